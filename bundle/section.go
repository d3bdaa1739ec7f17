package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"fairlead.dev/fairlead/catalog"
)

// section is the value of one key of a metadata file.
type section struct {
	node *yaml.Node
	lim  limits
}

// metadataSections are the values of the keys of a metadata file. A file that is not a mapping has none.
func metadataSections(f file, lim limits) (map[string]section, error) {
	doc, err := parse(f.data, lim)
	if err != nil {
		return nil, err
	}
	if doc.root == nil || doc.root.Kind != yaml.MappingNode {
		return nil, nil
	}
	out := map[string]section{}
	for i := 0; i+1 < len(doc.root.Content); i += 2 {
		out[doc.root.Content[i].Value] = section{node: doc.root.Content[i+1], lim: lim}
	}
	return out, nil
}

// texts is the section as a map of texts. Values are taken as they are written: a channel 4.10 is not the number 4.1.
func (s section) texts() (map[string]string, error) {
	if s.node.Kind != yaml.MappingNode {
		return nil, &LineError{s.node.Line, errors.New("want a mapping of texts")}
	}
	out := map[string]string{}
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		key, value := s.node.Content[i], s.node.Content[i+1]
		if value.Kind != yaml.ScalarNode {
			return nil, &LineError{value.Line, fmt.Errorf("want a text for %s", key.Value)}
		}
		out[key.Value] = value.Value
		if value.ShortTag() == "!!null" {
			out[key.Value] = ""
		}
	}
	return out, nil
}

// properties is the section as a list of types with their values, how many of them are wrapped, and what is wrong with those that cannot be
// read. For these there is one without type, so that all have the places that they have in the file.
func (s section) properties() (out []catalog.Property, wrapped int, errs []error) {
	value, _, err := document{root: s.node, lim: s.lim}.value()
	if err != nil {
		return nil, 0, []error{err}
	}
	items, ok := value.([]any)
	if !ok {
		return nil, 0, []error{&LineError{s.node.Line, errors.New("want a list of entries with type and value")}}
	}
	out = make([]catalog.Property, 0, len(items))
	for i, item := range items {
		// The examples of the manuals write entries in a key property.
		if outer, ok := item.(map[string]any); ok && len(outer) == 1 {
			if inner, ok := outer["property"].(map[string]any); ok {
				item = inner
				wrapped++
			}
		}
		entry, isMapping := item.(map[string]any)
		kind, _ := entry["type"].(string)
		value, hasValue := entry["value"]
		property := catalog.Property{Type: kind}
		switch {
		case !isMapping:
			err = errors.New("want a mapping with type and value; write it as one")
		case kind == "":
			err = errors.New("type is missing; name the type of the entry")
		case !hasValue:
			err = fmt.Errorf("value of %s is missing; add it", kind)
		default:
			property.Value, err = compactJSON(value)
		}
		if err != nil {
			line := s.node.Line
			if s.node.Kind == yaml.SequenceNode && i < len(s.node.Content) {
				line = s.node.Content[i].Line
			}
			property = catalog.Property{}
			errs = append(errs, &LineError{line, fmt.Errorf("entry %d: %w", i, err)})
		}
		out = append(out, property)
	}
	return out, wrapped, errs
}

// compactJSON is JSON as it stands in catalogs: on one line, keys of maps sorted, <, > and & as they are.
func compactJSON(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("write %T as JSON: %w", v, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// isManifestName says whether a file says of itself that it is YAML or JSON.
func isManifestName(name string) bool {
	for _, extension := range []string{".yaml", ".yml", ".json"} {
		if strings.HasSuffix(strings.ToLower(name), extension) {
			return true
		}
	}
	return false
}
