package ops

import (
	"io"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
)

// shownOperands is how many custom resources of a kind in a namespace a line names.
const shownOperands = 5

// Write prints a table, with a row for each kind in each namespace.
func (o *Operands) Write(w io.Writer) error {
	rows := [][]string{{"KIND", "NAMESPACE", "COUNT", "NAMES", "DEFINITION", "OPERATOR"}}
	for _, k := range o.Kinds {
		operators := safetext.List(k.Operators, shownOperands, ", ")
		if len(k.In) == 0 {
			count := strconv.Itoa(k.Count)
			if k.Count < 0 {
				count = "unknown"
			}
			rows = append(rows, []string{k.Kind, "", count, "", k.Definition, operators})
		}
		for _, in := range k.In {
			rows = append(rows, []string{k.Kind, in.Namespace, strconv.Itoa(in.Count), in.named(), k.Definition, operators})
		}
	}
	text := messages.Table(rows...)
	if len(o.Kinds) == 0 {
		text = "no installed operator owns a kind of custom resources; fairlead list lists the operators\n"
	}
	for _, k := range o.Kinds {
		if k.Problem != "" {
			text += "note: the custom resources of " + safetext.Quote(k.Definition) + " are not counted: " + messages.Clean(k.Problem) + "\n"
		}
	}
	for _, note := range o.Notes {
		text += "note: " + messages.Clean(note) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// named are the names of a few.
func (in OperandsIn) named() string {
	names := in.Names[:min(len(in.Names), shownOperands)]
	text := strings.Join(names, ", ")
	if more := in.Count - len(names); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}
