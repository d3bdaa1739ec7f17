package yamljson

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"go.yaml.in/yaml/v3"
)

// appendParsed converts a document by way of a tree of nodes.
func appendParsed(dst, document []byte, limits Limits) ([]byte, error) {
	// Refuse documents that could have more than maxNodes nodes. Each node but the first follows at least one of these marks.
	marks := 0
	for _, mark := range []string{"\n", ",", "[", "{", ": ", "- ", "? "} {
		marks += bytes.Count(document, []byte(mark))
	}
	if marks > maxNodes {
		return nil, &Error{Line: 1, Reason: fmt.Sprintf("the document has more than %d lines, commas and brackets; split it, or write it as JSON", maxNodes)}
	}
	root, err := parse(document)
	if err != nil {
		return nil, err
	}
	c := converter{out: dst, limit: len(dst) + limits.Bytes, aliases: limits.Aliases}
	if err := c.value(root, limits.Depth); err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Written = len(c.out) - len(dst)
		}
		return nil, err
	}
	return c.out, nil
}

// parse returns the root of the tree, nil for an empty document.
func parse(document []byte) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser is not ours, the text is not anyone's we know
			err = &Error{Line: 1, Reason: fmt.Sprintf("the parser failed: %v", r)}
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	var first, more yaml.Node
	if err := decoder.Decode(&first); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(err)
	}
	switch err := decoder.Decode(&more); {
	case err != nil && err != io.EOF:
		return nil, syntaxError(err)
	case err == nil && more.Content[0].ShortTag() != "!!null":
		return nil, &Error{Line: more.Content[0].Line, Reason: "a second document begins here"}
	}
	return first.Content[0], nil
}

var parserMessage = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

func syntaxError(err error) *Error {
	e := &Error{Line: 1, Reason: err.Error()}
	if m := parserMessage.FindStringSubmatch(err.Error()); m != nil {
		e.Reason = m[2]
		if line, err := strconv.Atoi(m[1]); err == nil && line > 0 {
			e.Line = line
		}
	}
	return e
}

type converter struct {
	out     []byte
	limit   int // of len(out)
	aliases int // that may still be replaced
	merged  int // members brought in by merge keys
}

func (c *converter) value(n *yaml.Node, depth int) error {
	if n == nil {
		c.out = append(c.out, "null"...)
		return nil
	}
	if len(c.out) > c.limit {
		return &Error{Line: n.Line, Reason: "the document is larger than the limit once its aliases are replaced"}
	}
	switch n.Kind {
	case yaml.AliasNode:
		if c.aliases--; c.aliases < 0 {
			return &Error{Line: n.Line, Reason: "the document uses too many aliases"}
		}
		return c.value(n.Alias, depth-1)
	case yaml.MappingNode, yaml.SequenceNode:
		if depth <= 0 {
			return &Error{Line: n.Line, Reason: "lists and objects are nested too deeply"}
		}
		if n.Kind == yaml.MappingNode {
			return c.object(n, depth-1)
		}
		c.out = append(c.out, '[')
		for i, element := range n.Content {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			if err := c.value(element, depth-1); err != nil {
				return err
			}
		}
		c.out = append(c.out, ']')
		return nil
	}
	var err error
	switch {
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 && n.ShortTag() == "!!str":
		c.out = rawjson.AppendString(c.out, n.Value)
	case n.Style&yaml.TaggedStyle == 0:
		c.out, err = appendPlain(c.out, n.Value)
	default:
		c.out, err = appendTagged(c.out, n)
	}
	if err != nil {
		return &Error{Line: n.Line, Reason: err.Error()}
	}
	return nil
}

func (c *converter) object(n *yaml.Node, depth int) error {
	pairs, err := c.pairs(n, depth)
	if err != nil {
		return err
	}
	c.out = append(c.out, '{')
	for i, p := range pairs {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(rawjson.AppendString(c.out, p.key), ':')
		if err := c.value(p.value, depth); err != nil {
			return err
		}
	}
	c.out = append(c.out, '}')
	return nil
}

// appendTagged appends a scalar whose type the author wrote down. One of a
// type that is not known is text.
func appendTagged(dst []byte, n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return nil, fmt.Errorf("the value of a !!binary is not base64: %w", err)
		}
		return rawjson.AppendString(dst, strings.ToValidUTF8(string(data), "\ufffd")), nil
	case "!!null", "!!bool", "!!int", "!!float":
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, errors.New(syntaxError(err).Reason)
		}
		return appendPlain(dst, n.Value)
	}
	return rawjson.AppendString(dst, n.Value), nil
}
