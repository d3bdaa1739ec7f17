package template

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/internal/docstream"
	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/internal/yamljson"
)

// document is the one document of a template.
type document struct {
	file     string
	line     int    // of the file where it begins
	text     []byte // as its author wrote it
	json     []byte
	isJSON   bool // text is json
	fields   []field
	warnings catalog.Problems
}

// field is a key of the template and its value.
type field struct {
	key   string
	value []byte
}

// What a template may cost besides its bytes.
const (
	maxDepth   = 100
	maxAliases = 10_000
	maxItems   = 100_000
)

// read reads the first document of a template.
func read(file string, content io.Reader, limit int) (*document, error) {
	r := docstream.NewReader(content, limit)
	d := &document{file: file, line: 1}
	if r.Binary() {
		return nil, d.fail(1, "this is not text")
	}
	first, err := r.Next(nil)
	var large *docstream.TooLargeError
	switch {
	case err == io.EOF:
		return nil, d.fail(1, "%w", errNoSchema)
	case errors.As(err, &large):
		return nil, d.fail(large.Line, "%w; split the template", err)
	case err != nil:
		return nil, d.fail(1, "%w", err)
	}
	d.line, d.text, d.isJSON = first.Line, first.Text, first.JSON
	if err := d.parse(limit); err != nil {
		return nil, err
	}
	if _, err := r.Next(nil); err == nil {
		d.warn(d.line, "only the first document of a template is read; the others were passed over", "put each template into a file of its own")
	}
	return d, nil
}

// parse makes JSON of the text and lists its fields.
func (d *document) parse(limit int) error {
	d.json = d.text
	if d.isJSON {
		var syntax *rawjson.SyntaxError
		if err := rawjson.Check(d.text, maxDepth); errors.As(err, &syntax) {
			return d.fail(d.lineAt(syntax.Offset), "this is not JSON: %w", err)
		}
		if !utf8.Valid(d.text) {
			return d.fail(d.line, "this is not text in UTF-8")
		}
	} else {
		var err error
		var syntax *yamljson.Error
		d.json, err = yamljson.Append(nil, d.text, yamljson.Limits{Bytes: 2 * limit, Depth: maxDepth, Aliases: maxAliases})
		if errors.As(err, &syntax) {
			return d.fail(d.line+syntax.Line-1, "this is not YAML: %w", err)
		}
	}
	if kind := rawjson.Kind(d.json); kind != "object" {
		return d.fail(d.line, "the template is %s, not an object with a schema", article(kind))
	}
	for key, value := range rawjson.Members(d.json) {
		if d.field(key) != nil {
			return d.fail(d.keyLine(key), "the key %.100q is there twice, perhaps in another case; remove one of the two", key)
		}
		if len(d.fields) > maxItems {
			return d.fail(d.line, "more than %d fields", maxItems)
		}
		d.fields = append(d.fields, field{key, value})
	}
	return nil
}

// field is the value of a key, whatever its case; nil if there is none.
func (d *document) field(key string) []byte {
	for _, f := range d.fields {
		if strings.EqualFold(f.key, key) {
			return f.value
		}
	}
	return nil
}

// schema is the schema of the template, and its line.
func (d *document) schema() (string, int, error) {
	value := d.field("schema")
	if value == nil {
		return "", 0, d.fail(d.line, "%w", errNoSchema)
	}
	line := d.keyLine("schema")
	if kind := rawjson.Kind(value); kind != "string" {
		return "", 0, d.fail(line, "the schema is %s, not a string", article(kind))
	}
	schema := rawjson.String(value)
	if schema == "" {
		return "", 0, d.fail(line, "%w", errNoSchema)
	}
	return schema, line, nil
}

// list are the items of a field that is a list of objects, each with its line.
func (d *document) list(key string) (items [][]byte, lines []int, err error) {
	value := d.field(key)
	if value == nil || rawjson.Kind(value) == "null" {
		return nil, nil, nil
	}
	if kind := rawjson.Kind(value); kind != "list" {
		return nil, nil, d.fail(d.keyLine(key), "%s is %s, not a list", key, article(kind))
	}
	if rawjson.Count(value, maxItems) > maxItems {
		return nil, nil, d.fail(d.keyLine(key), "%s has more than %d items; split the template", key, maxItems)
	}
	for item := range rawjson.Elements(value) {
		items = append(items, item)
	}
	lines = d.itemLines(key, items)
	for i, item := range items {
		if kind := rawjson.Kind(item); kind != "object" {
			return nil, nil, d.fail(lines[i], "%s[%d] is %s, not an object", key, i, article(kind))
		}
	}
	return items, lines, nil
}

// warnUnknown tells about fields that mean nothing.
func (d *document) warnUnknown(known ...string) {
	for _, f := range d.fields {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, f.key) }) {
			d.warn(d.keyLine(f.key), fmt.Sprintf("no such field: %.100q", f.key), "correct the name, or remove the field; there are "+strings.Join(known, ", "))
		}
	}
}

// article puts "a" or "an" before what rawjson.Kind returns.
func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "object":
		return "an " + kind
	}
	return "a " + kind
}

// RuleTemplate names warnings about the template itself.
const RuleTemplate catalog.Rule = "template"

func (d *document) warn(line int, message, fix string) {
	d.warnings = append(d.warnings, catalog.Problem{
		Severity: catalog.Warning, Rule: RuleTemplate, Position: d.at(line), Message: message, Fix: fix,
	})
}

func (d *document) at(line int) catalog.Position {
	return catalog.Position{File: d.file, Line: line}
}

// fail is an error with its place.
func (d *document) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{d.at(line)}, args...)...)
}
