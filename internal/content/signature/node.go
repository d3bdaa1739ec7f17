package signature

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxPolicy bounds a policy file.
const maxPolicy = 1 << 20

// node is a value of a policy file that knows where it is, so that each error
// names line and field. Only what is asked for is accepted: an unknown or
// repeated field, an alias, or a value of another type is an error.
type node struct {
	file, path string
	*yaml.Node
}

// parseDocument reads the only document of a YAML or JSON file.
func parseDocument(file string, data []byte) (node, error) {
	if len(data) > maxPolicy {
		return node{}, fmt.Errorf("%s has %d bytes, more than the %d that a policy may have", file, len(data), maxPolicy)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return node{}, fmt.Errorf("%s is empty", file)
	} else if err != nil {
		return node{}, fmt.Errorf("%s: %w", file, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return node{}, fmt.Errorf("%s holds more than one document, of which each could be meant", file)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return node{}, fmt.Errorf("%s is empty", file)
	}
	return node{file: file, Node: document.Content[0]}, nil
}

// errorf names the place of the node.
func (n node) errorf(format string, args ...any) error {
	where := fmt.Sprintf("%s:%d", n.file, n.Line)
	if n.path != "" {
		where += ": " + n.path
	}
	return fmt.Errorf("%s: %w", where, fmt.Errorf(format, args...))
}

func (n node) child(path string, y *yaml.Node) node {
	if n.path != "" && path[0] != '[' {
		path = n.path + "." + path
	} else {
		path = n.path + path
	}
	return node{file: n.file, path: path, Node: y}
}

// fields gives each field of an object to its reader.
func (n node) fields(readers map[string]func(node) error) error {
	return n.each(func(name string, value node) error {
		read, ok := readers[name]
		if !ok {
			return value.errorf("there is no such field; known are %q", slices.Sorted(maps.Keys(readers)))
		}
		return read(value)
	})
}

// each visits the fields of an object.
func (n node) each(visit func(name string, value node) error) error {
	if n.Kind != yaml.MappingNode {
		return n.errorf("it must be an object with fields")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Value == "" && key.Tag != "!!str" || key.Tag == "!!merge" {
			return n.errorf("the name of a field must be a string")
		}
		name := key.Value
		if name == "" || strings.ContainsAny(name, "./*:@ []") { // no identifier, such as a scope
			name = strconv.Quote(name)
		}
		value := n.child(name, n.Content[i+1])
		if seen[key.Value] {
			return value.errorf("the field is repeated, at line %d", key.Line)
		}
		seen[key.Value] = true
		if err := visit(key.Value, value); err != nil {
			return err
		}
	}
	return nil
}

// items gives each item of a list to a reader.
func (n node) items(read func(node) error) error {
	if n.Kind != yaml.SequenceNode {
		return n.errorf("it must be a list")
	}
	for i, item := range n.Content {
		if err := read(n.child(fmt.Sprintf("[%d]", i), item)); err != nil {
			return err
		}
	}
	return nil
}

// text returns a reader of a string that is not empty.
func text(to *string) func(node) error {
	return func(n node) error {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			return n.errorf("it must be a string")
		}
		if n.Value == "" {
			return n.errorf("it is empty")
		}
		*to = n.Value
		return nil
	}
}

// count returns a reader of a small number.
func count(to **int) func(node) error {
	return func(n node) error {
		var i int
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&i) != nil || i < 0 || i > 8 {
			return n.errorf("it must be a number from 0 to 8")
		}
		*to = &i
		return nil
	}
}
