package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/catalog/internal/docstream"
	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/internal/yamljson"
	"fairlead.dev/fairlead/catalog/safetext"
)

// decoder turns documents into objects. It belongs to one goroutine.
type decoder struct {
	keeper
	text  []byte  // JSON of the last YAML document, reused
	lines encoder // of objects for the spool
}

// member is a key and value of an object.
type member struct {
	key   string
	value []byte
}

// decoded is what became of a document: an object, nothing if it holds none,
// or problems that say why it cannot be read.
type decoded struct {
	object   any      // *Package, *Channel, *Bundle, *Deprecations, *Meta or nil
	line     *spooled // the object as it is to be written to a spool, if that is wanted
	problems Problems
	// intended is set if the document was clearly meant to be read here, which
	// a few lines of a README are not.
	intended bool
	// expanded is how many bytes the document became more by its aliases.
	expanded int
}

func (d *decoder) decode(document docstream.Document, at Position) decoded {
	text, written, failure := d.json(document)
	expanded := max(0, written-2*len(document.Text)) // nothing but aliases makes twice of it
	if failure != nil {
		failure.Position.File = at.File
		failure.Position.Line += at.Line - 1
		return decoded{problems: Problems{*failure}, intended: document.JSON, expanded: expanded}
	}
	if string(text) == "null" {
		return decoded{}
	}
	if kind := rawjson.Kind(text); kind != "object" {
		return decoded{problems: Problems{{
			Severity: Error, Rule: RuleNotAnObject, Position: at,
			Message: fmt.Sprintf("the document is %s, not an object with a schema", article(kind)),
			Fix:     "make it an object, or list the file in an .indexignore file",
		}}}
	}
	result := d.object(text, at)
	result.expanded = expanded
	for i := range result.problems {
		result.problems[i].Position = at
	}
	return result
}

// json is the text of a document as JSON, and how many bytes were written for
// it, also in vain. The line of a failure counts from the beginning of the
// document.
func (d *decoder) json(document docstream.Document) (_ []byte, written int, _ *Problem) {
	text := document.Text
	if document.JSON {
		if !utf8.Valid(text) {
			text = bytes.ToValidUTF8(text, []byte("\ufffd"))
		}
		var syntax *rawjson.SyntaxError
		if err := rawjson.Check(text, d.limits.Depth); errors.As(err, &syntax) {
			return nil, 0, syntaxProblem("JSON", 1+bytes.Count(text[:syntax.Offset], []byte("\n")), err)
		}
		return text, 0, nil
	}
	// Nearly every character of YAML can become at most two of JSON.
	limits := yamljson.Limits{Bytes: 2 * d.limits.DocumentBytes, Depth: d.limits.Depth, Aliases: d.limits.Aliases}
	out, err := yamljson.Append(d.text[:0], text, limits)
	if err != nil {
		var syntax *yamljson.Error
		line := 1
		if errors.As(err, &syntax) {
			line, written = syntax.Line, syntax.Written
		}
		return nil, written, syntaxProblem("YAML", line, err)
	}
	d.text = out
	return out, len(out), nil
}

func syntaxProblem(format string, line int, err error) *Problem {
	return &Problem{
		Severity: Error, Rule: RuleSyntax, Position: Position{Line: line},
		Message: fmt.Sprintf("this is not %s: %v", format, err),
		Fix:     "correct the text, or list the file in an .indexignore file",
	}
}

// object decodes an object by its schema. The positions of problems are left
// to the caller.
func (d *decoder) object(text []byte, at Position) decoded {
	members, twice, problem := d.topLevel(text)
	if problem != nil {
		return decoded{problems: Problems{*problem}}
	}
	o, problem := identify(members)
	if problem != nil {
		return decoded{problems: Problems{*problem}}
	}
	c := content{text: text, members: members, object: o, at: at, limits: d.limits, keeper: &d.keeper, twice: twice}
	result := decoded{object: c.decode(), problems: c.problems, intended: true}
	if result.object == nil || d.keeping != keepRaw {
		return result
	}
	var err error
	if result.line, err = d.spool(result.object); err != nil {
		c.report(Error, RuleLimit, fmt.Sprintf("the object cannot be written: %v", err), "write it in another way")
		return decoded{problems: c.problems, intended: true}
	}
	return result
}

// topLevel lists the members of an object, whose keys must differ by more than
// case. Of members with the very same key the last one counts; twice names
// those keys.
func (d *decoder) topLevel(text []byte) (members []member, twice []string, problem *Problem) {
	for key, value := range rawjson.Members(text) {
		members = append(members, member{key, value})
		if len(members) > d.limits.Items {
			return nil, nil, &Problem{
				Severity: Error, Rule: RuleLimit, Message: fmt.Sprintf("the object has more than %d fields", d.limits.Items),
				Fix: "remove some, or raise the limit on items",
			}
		}
	}
	sorted := slices.SortedStableFunc(slices.Values(members), func(a, b member) int { return strings.Compare(fold(a.key), fold(b.key)) })
	for i := 1; i < len(sorted); i++ {
		switch first, second := sorted[i-1].key, sorted[i].key; {
		case first == second:
			twice = append(twice, first)
		case fold(first) == fold(second):
			return nil, nil, &Problem{
				Severity: Error, Rule: RuleDuplicateKey,
				Message: fmt.Sprintf("the keys %q and %q are the same", safetext.Truncate(first, 100), safetext.Truncate(second, 100)),
				Fix:     "remove one of them",
			}
		}
	}
	if twice == nil {
		return members, nil, nil
	}
	members = members[:0]
	for i, m := range sorted {
		if i == len(sorted)-1 || sorted[i+1].key != m.key { // else the next one hides it
			members = append(members, m)
		}
	}
	return members, twice, nil
}

// fold makes keys equal that differ only in case.
func fold(key string) string { return strings.ToLower(strings.ToUpper(key)) }

// identify reads what every object of a catalog has.
func identify(members []member) (Object, *Problem) {
	var o Object
	for _, m := range members {
		var to *string
		switch {
		case strings.EqualFold(m.key, "schema"):
			to = &o.Schema
		case strings.EqualFold(m.key, "package"):
			to = &o.Package
		case strings.EqualFold(m.key, "name"):
			to = &o.Name
		default:
			continue
		}
		if kind := rawjson.Kind(m.value); kind != "string" {
			return o, &Problem{
				Severity: Error, Rule: RuleFieldType, Object: o,
				Message: fmt.Sprintf("%q is %s, not a string", m.key, article(kind)),
				Fix:     "write it in quotes",
			}
		}
		*to = rawjson.String(m.value)
	}
	if o.Schema == "" {
		return o, &Problem{
			Severity: Error, Rule: RuleSchemaMissing,
			Message: "the object has no schema",
			Fix:     "give it one, such as \"schema: olm.bundle\", or list the file in an .indexignore file",
		}
	}
	return o, nil
}

// ToJSON returns a small document, written in JSON or YAML, as JSON. JSON stays as it is: not all of it is YAML, such as escapes for halves of
// characters. Documents of catalogs are read by other means, with limits.
func ToJSON(document []byte) ([]byte, error) {
	if json.Valid(document) {
		return document, nil
	}
	return yaml.YAMLToJSON(document)
}
