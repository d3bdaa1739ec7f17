package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// parseJSON parses a file whose first document is a JSON object or list. JSON is nearly YAML, but not quite: it has escapes for halves of
// characters, which YAML refuses, and line separators in text, which YAML folds. So JSON is read as JSON, to the nodes that YAML would have
// given, and all that follows is the same for both. Half a character that lacks the other half becomes U+FFFD, as in encoding/json. It reports
// false for what is not JSON, which may be YAML still.
func parseJSON(data []byte, lim limits) (document, bool, error) {
	doc := document{lim: lim}
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	start := bytes.TrimLeft(text, " \t\r\n")
	if len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return doc, false, nil
	}
	r := jsonReader{decoder: json.NewDecoder(bytes.NewReader(text)), text: text, line: 1, depth: lim.depth}
	r.decoder.UseNumber()
	root, err := r.value(1)
	var wrong *LineError
	if errors.As(err, &wrong) {
		return doc, true, err
	}
	if err != nil {
		return doc, false, nil
	}
	rest := text[r.decoder.InputOffset():]
	if len(bytes.TrimSpace(rest)) > 0 {
		if !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("---")) {
			return doc, false, nil // such as an object of YAML that continues after a brace
		}
		next, err := parse(rest, lim)
		doc.extra = err != nil || next.root != nil
	}
	doc.root = root
	return doc, true, nil
}

// jsonReader makes nodes of tokens.
type jsonReader struct {
	decoder *json.Decoder
	text    []byte
	depth   int // what is nested deeper is refused
	// line is that of the byte at counted.
	line, counted int
}

// value reads the next value. A LineError is final; any other means that the text is not JSON.
func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{Line: r.at()}
	if depth > r.depth {
		return nil, &LineError{Line: node.Line, Err: fmt.Errorf("nested more than %d deep", r.depth)}
	}
	switch v := token.(type) {
	case json.Delim:
		return node, r.collection(node, v, depth)
	case string:
		node.Kind, node.Tag, node.Style, node.Value = yaml.ScalarNode, "!!str", yaml.DoubleQuotedStyle, v
	case json.Number:
		node.Kind, node.Value = yaml.ScalarNode, v.String()
		if _, err := v.Float64(); err != nil {
			node.Tag = "!!float" // one that is too large is refused; YAML would read it as text
		}
	case bool:
		node.Kind, node.Tag, node.Value = yaml.ScalarNode, "!!bool", fmt.Sprint(v)
	case nil:
		node.Kind, node.Tag, node.Value = yaml.ScalarNode, "!!null", "null"
	}
	return node, nil
}

// collection reads the entries of an object or a list, and its end.
func (r *jsonReader) collection(node *yaml.Node, open json.Delim, depth int) error {
	node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
	}
	for r.decoder.More() {
		if open == '{' {
			token, err := r.decoder.Token()
			if err != nil {
				return err
			}
			key := token.(string) // the decoder accepts no other keys
			node.Content = append(node.Content, &yaml.Node{Line: r.at(), Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: key})
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		node.Content = append(node.Content, value)
	}
	_, err := r.decoder.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// at is the line in which the token ends that was read last: text of JSON has no line breaks.
func (r *jsonReader) at() int {
	offset := int(r.decoder.InputOffset())
	r.line += bytes.Count(r.text[r.counted:offset], []byte("\n"))
	r.counted = offset
	return r.line
}
