// Judges patterns as Go's package regexp does, which cel-go uses for `matches` and its siblings.
//
// Reads one JSON object a line from standard input: a pattern, a template that replaces the first match, and texts. Answers with one JSON object
// a line: why the pattern is refused, or what it finds in each text.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"regexp"
)

type question struct {
	Pattern  string   `json:"pattern"`
	Template string   `json:"template"`
	Texts    []string `json:"texts"`
}

// finding is what a pattern finds in one text.
type finding struct {
	Matches bool `json:"matches"`
	// Each match: its text, and the text of its first group, null for a group without a part in the match.
	All [][]*string `json:"all"`
	// The text with each match in angle brackets.
	Marked string `json:"marked"`
	// The text with the first match replaced.
	Replaced string `json:"replaced"`
}

type answer struct {
	Error    string    `json:"error"`
	Groups   int       `json:"groups"`
	Findings []finding `json:"findings"`
}

func judge(asked question) answer {
	pattern, err := regexp.Compile(asked.Pattern)
	if err != nil {
		return answer{Error: err.Error()}
	}
	answered := answer{Groups: pattern.NumSubexp()}
	for _, text := range asked.Texts {
		found := finding{Matches: pattern.MatchString(text), All: [][]*string{}, Replaced: text}
		found.Marked = pattern.ReplaceAllString(text, "<${0}>")
		for n, places := range pattern.FindAllStringSubmatchIndex(text, -1) {
			parts := []*string{}
			for at := 0; at < len(places) && at < 4; at += 2 {
				if places[at] < 0 {
					parts = append(parts, nil)
				} else {
					part := text[places[at]:places[at+1]]
					parts = append(parts, &part)
				}
			}
			found.All = append(found.All, parts)
			if n == 0 {
				by := pattern.ExpandString(nil, asked.Template, text, places)
				found.Replaced = text[:places[0]] + string(by) + text[places[1]:]
			}
		}
		answered.Findings = append(answered.Findings, found)
	}
	return answered
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := bufio.NewWriter(os.Stdout)
	defer answers.Flush()
	questions, output := json.NewDecoder(lines), json.NewEncoder(answers)
	for questions.More() {
		var asked question
		if err := questions.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		if err := output.Encode(judge(asked)); err != nil {
			log.Fatal(err)
		}
	}
}
