package registryv1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxProblems bounds how much of what is wrong with a configuration is told.
const maxProblems = 20

// checker holds a configuration against a schema and tells what is wrong in words for people.
type checker struct {
	root *schema
	// namespace is the one of the installation, for the formats that depend on it.
	namespace string
	// hint adds to what is said about an unknown field at the top.
	hint     map[string]string
	problems []string
}

func (c *checker) add(format string, args ...any) {
	if len(c.problems) == maxProblems {
		c.problems = append(c.problems, "and more")
	}
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

// check looks at a value, which is what JSON is decoded to. The path is empty for the whole configuration.
func (c *checker) check(path string, s *schema, value any) {
	if name, ok := strings.CutPrefix(s.Ref, definitionsPath); ok {
		s = c.root.Definitions[name]
	}
	if !slices.ContainsFunc(s.Type, func(t string) bool { return hasType(value, t) }) {
		c.add("%s: got %s, want %s", at("invalid type", path), typeOf(value), strings.Join(s.Type, " or "))
		return
	}
	switch value := value.(type) {
	case map[string]any:
		c.checkObject(path, s, value)
	case []any:
		c.checkList(path, s, value)
	case string:
		c.checkText(path, s, value)
	case int64:
		if s.Minimum != nil && value < *s.Minimum || s.Maximum != nil && value > *s.Maximum {
			c.add("invalid value %d: must be between %d and %d (field %q)", value, *s.Minimum, *s.Maximum, path)
		}
	}
}

func at(what, path string) string {
	if path == "" {
		return what
	}
	return fmt.Sprintf("%s for field %q", what, path)
}

func (c *checker) checkObject(path string, s *schema, object map[string]any) {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			c.add("required field %q is missing", join(path, name))
		}
	}
	c.checkAlternatives(path, s, object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property := s.Properties[name]
		switch {
		case property == nil && s.Values == closed:
			c.add("unknown field %q%s", shorten(join(path, name)), c.hint[join(path, name)])
			continue
		case property == nil && s.Values == nil:
			continue
		case property == nil:
			property = s.Values.schema
		}
		c.check(shorten(join(path, name)), property, object[name])
	}
}

// checkAlternatives checks what has to be there exactly once under one name or the other, or at most once.
func (c *checker) checkAlternatives(path string, s *schema, object map[string]any) {
	var names, found []string
	for _, alternative := range s.OneOf {
		names = append(names, alternative.Required...)
	}
	if s.Not != nil {
		names = s.Not.Required
	}
	for _, name := range names {
		if _, ok := object[name]; ok {
			found = append(found, fmt.Sprintf("%q", join(path, name)))
		}
	}
	if len(s.OneOf) > 0 && len(found) == 0 {
		c.add("required field %q is missing (or %q)", join(path, names[0]), join(path, names[1]))
	}
	if len(found) > 1 {
		c.add("fields %s exclude each other: set one of them", strings.Join(found, " and "))
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (c *checker) checkList(path string, s *schema, list []any) {
	if s.MinItems != nil && len(list) < *s.MinItems || s.MaxItems != nil && len(list) > *s.MaxItems {
		c.add("invalid value for field %q: got %d items, want %d to %d", path, len(list), *s.MinItems, *s.MaxItems)
		return
	}
	for i, item := range list {
		place := fmt.Sprintf("%s[%d]", path, i)
		c.check(place, s.Items, item)
		if text, ok := item.(string); ok && s.UniqueItems && slices.Contains(list[:i], item) {
			c.add("invalid value %q: is in the list already (field %q)", shorten(text), place)
		}
	}
}

func (c *checker) checkText(path string, s *schema, text string) {
	length := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && length < *s.MinLength, s.MaxLength != nil && length > *s.MaxLength:
		c.add("invalid value %q: must have %d to %d characters (field %q)", shorten(text), *s.MinLength, *s.MaxLength, path)
	case s.Pattern != "" && !pattern(s.Pattern).MatchString(text):
		c.add("invalid value %q: must match pattern %s (field %q)", shorten(text), s.Pattern, path)
	case s.Format == formatOwn && text != c.namespace:
		c.add("invalid value %q: must be %q (field %q: the operator can only watch the namespace that it is installed in)", text, c.namespace, path)
	case s.Format == formatSingle && text == c.namespace:
		c.add("invalid value %q: must be different from %q (field %q: the operator cannot watch the namespace that it is installed in)", text, c.namespace, path)
	}
}

var patterns sync.Map

// pattern compiles the patterns of our own schemas, each once.
func pattern(text string) *regexp.Regexp {
	if have, ok := patterns.Load(text); ok {
		return have.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text)
	patterns.Store(text, compiled)
	return compiled
}

func hasType(value any, name string) bool {
	have := typeOf(value)
	return have == name || name == typeNumber && have == typeInteger
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return typeNull
	case map[string]any:
		return typeObject
	case []any:
		return typeArray
	case string:
		return typeString
	case bool:
		return typeBoolean
	case int64:
		return typeInteger
	case float64:
		return typeNumber
	default:
		return fmt.Sprintf("%T", value)
	}
}

// maxQuoted is how much of what users wrote is repeated to them.
const maxQuoted = 200

// shorten keeps messages readable and small.
func shorten(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuoted], "") + "..."
}
