package graph

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// mermaidIDs are the identifiers of packages, channels and entries.
type mermaidIDs struct {
	given map[string]string // by their names
	taken map[string]bool
}

// of is the identifier of the package, channel or entry of these names: they
// themselves if they are usual ones, made fit and unique otherwise.
func (m mermaidIDs) of(names ...string) string {
	key := fmt.Sprintf("%q", names)
	if id, ok := m.given[key]; ok {
		return id
	}
	// A name made fit for an identifier; usual names stay as they are. A dash must be followed by a letter or a digit, or it begins an
	// arrow.
	name := strings.Join(names, "-")
	var b strings.Builder
	if word, _, _ := strings.Cut(strings.ReplaceAll(name, ".", "-"), "-"); slices.Contains(mermaidWords, word) {
		b.WriteByte('_')
	}
	for i, r := range name {
		switch {
		case isWord(r), r == '.', r == '-' && i+1 < len(name) && isWord(rune(name[i+1])):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "_%x_", r)
		}
	}
	wanted := b.String()
	id := wanted
	for n := 2; m.taken[id]; n++ {
		id = fmt.Sprintf("%s_%d", wanted, n)
	}
	m.given[key], m.taken[id] = id, true
	return id
}

// mermaidWords mean something to mermaid where an identifier begins.
var mermaidWords = []string{"call", "class", "classDef", "click", "default", "end", "flowchart", "graph", "href", "interpolate", "linkStyle", "style", "subgraph"}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// mermaidLabel is a name in quotes, in which nothing has a meaning.
func mermaidLabel(name string) string {
	text := strings.Map(printable, mermaidEscapes.Replace(safetext.Truncate(name, 100)))
	if text == "" { // which is no label
		text = mermaidEscapes.Replace(safetext.Quote(name))
	}
	return `"` + text + `"`
}

// mermaidEscapes take the meaning from what mermaid would read as a directive,
// Markdown or HTML. What is less than a number in a range has none.
var mermaidEscapes = mermaidReplacer()

func mermaidReplacer() *strings.Replacer {
	pairs := []string{"#", "#35;", `"`, "#quot;", "%%", "#37;#37;", "`", "#96;", "</", "#lt;/", "<!", "#lt;!", "<?", "#lt;?"}
	for r := 'a'; r <= 'z'; r++ {
		for _, letter := range []string{string(r), strings.ToUpper(string(r))} {
			pairs = append(pairs, "<"+letter, "#lt;"+letter)
		}
	}
	return strings.NewReplacer(pairs...)
}

// printable leaves out what would end a line or could not be seen.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
		return -1
	}
	return r
}
