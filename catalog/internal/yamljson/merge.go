package yamljson

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// pair is a member of an object.
type pair struct {
	key   string
	value *yaml.Node
}

// pairs lists the members of a mapping, with those that a merge key ("<<")
// brings in and that the mapping does not have itself.
func (c *converter) pairs(n *yaml.Node, depth int) ([]pair, error) {
	pairs := make([]pair, 0, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		name, err := c.key(key)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{name, value})
	}
	if len(merged) == 0 {
		return pairs, nil
	}
	m := merger{converter: c, pairs: pairs, seen: map[string]bool{}}
	for _, p := range pairs {
		m.seen[p.key] = true
	}
	for _, source := range merged {
		if err := m.merge(source, depth); err != nil {
			return nil, err
		}
	}
	return m.pairs, nil
}

// key is the text of a key, through an alias if need be.
func (c *converter) key(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		if c.aliases--; c.aliases < 0 {
			return "", &Error{Line: n.Line, Reason: "the document uses too many aliases"}
		}
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", &Error{Line: n.Line, Reason: "a key is a list or an object"}
	}
	return n.Value, nil
}

type merger struct {
	*converter
	pairs []pair
	seen  map[string]bool
}

// merge adds the members of a mapping, or of each mapping of a list; the first
// to bring a key wins.
func (m *merger) merge(source *yaml.Node, depth int) error {
	if depth <= 0 {
		return &Error{Line: source.Line, Reason: "merge keys are nested too deeply"}
	}
	switch source.Kind {
	case yaml.AliasNode:
		if m.aliases--; m.aliases < 0 {
			return &Error{Line: source.Line, Reason: "the document uses too many aliases"}
		}
		return m.merge(source.Alias, depth-1)
	case yaml.SequenceNode:
		for _, element := range source.Content {
			if err := m.merge(element, depth-1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		if m.merged += len(source.Content) / 2; m.merged > maxNodes {
			return &Error{Line: source.Line, Reason: fmt.Sprintf("merge keys bring in more than %d members", maxNodes)}
		}
		pairs, err := m.converter.pairs(source, depth-1)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if !m.seen[p.key] {
				m.seen[p.key] = true
				m.pairs = append(m.pairs, p)
			}
		}
		return nil
	}
	return &Error{Line: source.Line, Reason: "a merge key (<<) takes an object or a list of objects"}
}
