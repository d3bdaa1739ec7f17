package bundle

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lines finds the lines of fields in a file. Its zero value finds none.
type Lines struct{ root *yaml.Node }

// Lines reads where the fields of the file are. A file that cannot be read has none.
func (f File) Lines() Lines {
	doc, err := parse(f.Data, defaultLimits)
	if err != nil {
		return Lines{}
	}
	return Lines{doc.root}
}

// Of is the line of a field, such as spec.install.spec.deployments[0].name or metadata.annotations[olm.skipRange], or of
// what it would be in when it is not there; 0 when not even that is known.
func (l Lines) Of(field string) int {
	if l.root == nil {
		return 0
	}
	node, line := l.root, l.root.Line
	for _, step := range fieldSteps(field) {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		next, at := child(node, step)
		if next == nil {
			return line
		}
		node, line = next, at
	}
	return line
}

// fieldSteps takes a field apart: names, and what stands in brackets.
func fieldSteps(field string) []string {
	var steps []string
	for field != "" {
		if inside, ok := strings.CutPrefix(field, "["); ok {
			step, rest, _ := strings.Cut(inside, "]")
			steps, field = append(steps, step), rest
			continue
		}
		field = strings.TrimPrefix(field, ".")
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		if end > 0 {
			steps = append(steps, field[:end])
		}
		field = field[end:]
	}
	return steps
}

// child is the value of a key or an index, and the line that it begins in.
func child(node *yaml.Node, step string) (*yaml.Node, int) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1], node.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i].Line
		}
	}
	return nil, 0
}

// Has says whether the field itself is there.
func (l Lines) Has(field string) bool {
	node := l.root
	for _, step := range fieldSteps(field) {
		if node != nil && node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		if node == nil {
			return false
		}
		node, _ = child(node, step)
	}
	return node != nil
}
