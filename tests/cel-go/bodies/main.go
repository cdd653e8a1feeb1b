// Judges bodies of requests as Go's packages mime, mime/multipart and net/http do.
//
// Reads one JSON object a line from standard input: a content type and a body, in base64. Answers with one JSON object a line: the media type, the
// parts of the body, and the type that its first bytes show.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
)

type question struct {
	ContentType []byte `json:"content_type"`
	Body        []byte `json:"body"`
}

type part struct {
	// The value of each parameter of its content-disposition; null if that is malformed.
	Parameters map[string]string `json:"parameters"`
	// Its fields: names in Go's notation.
	Fields  map[string][]string `json:"fields"`
	Content []byte              `json:"content"`
}

type answer struct {
	// Null if the content type is malformed.
	MediaType *string `json:"media_type"`
	Boundary  *string `json:"boundary"`
	Parts     []part  `json:"parts"`
	// Whether the body ends as it should; the last part is the one that was read when it did not.
	Ends    bool   `json:"ends"`
	Sniffed string `json:"sniffed"`
}

func judge(asked question) answer {
	answered := answer{Parts: []part{}, Sniffed: http.DetectContentType(asked.Body)}
	mediaType, parameters, err := mime.ParseMediaType(string(asked.ContentType))
	if err != nil {
		return answered
	}
	answered.MediaType = &mediaType
	boundary, given := parameters["boundary"]
	if !given {
		return answered
	}
	answered.Boundary = &boundary
	parts := multipart.NewReader(bytes.NewReader(asked.Body), boundary)
	for {
		// A part as it was sent: NextPart decodes quoted-printable.
		next, err := parts.NextRawPart()
		if err != nil {
			answered.Ends = err == io.EOF
			return answered
		}
		content, err := io.ReadAll(next)
		found := part{Fields: next.Header, Content: content}
		if _, parameters, err := mime.ParseMediaType(next.Header.Get("Content-Disposition")); err == nil {
			found.Parameters = parameters
		}
		answered.Parts = append(answered.Parts, found)
		if err != nil {
			return answered
		}
	}
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
