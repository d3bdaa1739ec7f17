package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// document is the first document of a file that holds anything, in YAML or JSON.
type document struct {
	root  *yaml.Node // nil when the file holds nothing
	extra bool       // whether more documents follow
	lim   limits
}

// parse reads the first document of a file that holds anything, and looks no further than the start of the next.
func parse(data []byte, lim limits) (document, error) {
	doc := document{lim: lim}
	if countTokens(data) > lim.tokens { // it could take too long to even parse it
		return doc, fmt.Errorf("more than %d YAML separators", lim.tokens)
	}
	if doc, isJSON, err := parseJSON(data, lim); isJSON {
		return doc, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		empty := len(node.Content) == 0 || node.Content[0].Kind == yaml.ScalarNode && node.Content[0].ShortTag() == "!!null"
		switch {
		case errors.Is(err, io.EOF):
			return doc, nil
		case doc.root != nil:
			// A later document is reported, not read: whether it is well-formed is of no interest.
			doc.extra = doc.extra || err != nil || !empty
			if doc.extra {
				return doc, nil
			}
		case err != nil:
			return doc, fmt.Errorf("parse: %w", err)
		case !empty:
			doc.root = node.Content[0]
		}
	}
}

// value is the document as the values that encoding/json would give, with integers as int64, and what its author
// should know about it.
func (d document) value() (value any, warnings []error, err error) {
	if d.root == nil {
		return nil, nil, nil
	}
	if d.extra {
		warnings = append(warnings, errors.New("only the first YAML document is used; put the others into files of their own"))
	}
	c := converter{lim: d.lim, open: map[*yaml.Node]bool{}}
	value, err = c.convert(d.root, 1)
	if c.repeated != nil {
		warnings = append(warnings, c.fail(c.repeated, "the key %q is there twice; the last one counts", c.repeated.Value))
	}
	return value, warnings, err
}

// converter turns YAML nodes into JSON values, following the reading of YAML that Kubernetes clients have: the words
// for booleans of YAML 1.1, keys that are not text written as text, whole floats as integers.
type converter struct {
	lim      limits
	values   int
	open     map[*yaml.Node]bool // anchors being expanded
	repeated *yaml.Node          // the first key that an earlier one in its mapping equals
}

func (c *converter) convert(node *yaml.Node, depth int) (any, error) {
	c.values++
	if c.values > c.lim.values {
		return nil, c.fail(node, "more than %d values in one document, aliases expanded", c.lim.values)
	}
	if c.lim.used != nil && c.lim.used.Add(1) > c.lim.totalValues {
		return nil, errTotalValues
	}
	if depth > c.lim.depth {
		return nil, c.fail(node, "nested more than %d deep", c.lim.depth)
	}
	switch node.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(node.Content)/2)
		return out, c.fill(out, node, depth)
	case yaml.SequenceNode:
		out := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			value, err := c.convert(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		return out, nil
	case yaml.AliasNode:
		if c.open[node.Alias] {
			return nil, c.fail(node, "anchor %q contains itself", node.Value)
		}
		c.open[node.Alias] = true
		defer delete(c.open, node.Alias)
		return c.convert(node.Alias, depth+1)
	default:
		return c.scalar(node)
	}
}

func (c *converter) fail(node *yaml.Node, format string, args ...any) error {
	return &LineError{Line: node.Line, Err: fmt.Errorf(format, args...)}
}

// LineError says in which line of a file something is wrong.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// fill adds the entries of a mapping. The last of two entries with one key counts; merged entries never replace others.
func (c *converter) fill(out map[string]any, node *yaml.Node, depth int) error {
	var merges []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		name, err := c.key(key)
		if err != nil {
			return err
		}
		if _, twice := out[name]; twice && c.repeated == nil {
			c.repeated = key
		}
		if out[name], err = c.convert(value, depth+1); err != nil {
			return err
		}
	}
	for _, merge := range merges {
		if err := c.merge(out, merge, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// merge adds what a "<<" key names: a mapping, an alias of one, or a list of those.
func (c *converter) merge(out map[string]any, node *yaml.Node, depth int) error {
	sources := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		sources = node.Content
	}
	for _, source := range sources {
		value, err := c.convert(source, depth)
		if err != nil {
			return err
		}
		entries, ok := value.(map[string]any)
		if !ok {
			return c.fail(source, "a merge key needs a mapping")
		}
		for key, entry := range entries {
			if _, taken := out[key]; !taken {
				out[key] = entry
			}
		}
	}
	return nil
}
