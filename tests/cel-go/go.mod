module celero.example/judges

go 1.24
