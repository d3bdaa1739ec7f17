package catalog

import (
	"cmp"
	"fmt"
)

// Limits bound what a catalog may cost to read. A zero field means the default
// in its comment. Build refuses a catalog that exceeds one of those about the
// catalog as a whole with a *LimitError; Load reads up to there and reports it
// as a problem.
type Limits struct {
	FileBytes     int64 // of one file; 1 GiB
	TotalBytes    int64 // of all files together; 4 GiB; about the whole
	MemoryBytes   int64 // that its objects take, estimated, payloads aside; 4 GiB; about the whole
	DocumentBytes int   // of one document, also once its YAML aliases are replaced; 32 MiB
	Files         int   // files and directories; 100,000
	Documents     int   // in all files together; 1,000,000; about the whole
	Depth         int   // of nested lists and objects; 100
	Aliases       int   // YAML aliases used in one document; 1,000
	Items         int   // entries, properties or related images of one object; 100,000
	Problems      int   // listed, of each severity, before the rest is only counted; 100
}

func (l Limits) withDefaults() Limits {
	return Limits{
		FileBytes:     cmp.Or(l.FileBytes, 1<<30),
		TotalBytes:    cmp.Or(l.TotalBytes, 4<<30),
		MemoryBytes:   cmp.Or(l.MemoryBytes, 4<<30),
		DocumentBytes: cmp.Or(l.DocumentBytes, 32<<20),
		Files:         cmp.Or(l.Files, 100_000),
		Documents:     cmp.Or(l.Documents, 1_000_000),
		Depth:         cmp.Or(l.Depth, 100),
		Aliases:       cmp.Or(l.Aliases, 1_000),
		Items:         cmp.Or(l.Items, 100_000),
		Problems:      cmp.Or(l.Problems, 100),
	}
}

// LimitError reports that a catalog as a whole exceeds one of the Limits it was
// read with.
type LimitError struct {
	Limit  string   // the field of Limits: TotalBytes, MemoryBytes or Documents
	Value  int64    // of that field
	At     Position // how far the catalog was read; zero where that varies
	Reason string
	remedy string
}

// Error names the limit, and where in the catalog it was reached.
func (e *LimitError) Error() string {
	reached := ""
	if e.At != (Position{}) {
		reached = ", reached at " + e.At.String()
	}
	return fmt.Sprintf("%s (%s is %d%s)", e.Reason, e.Limit, e.Value, reached)
}

// JSONValues counts the values and keys of a JSON text, or somewhat more, without reading it: each takes about a hundred bytes once it is decoded, however
// short it is written. Of what is no JSON it counts something.
func JSONValues[T ~string | ~[]byte](text T) int {
	n, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
