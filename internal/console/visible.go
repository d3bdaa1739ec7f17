package console

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"
)

// unseen reports whether a character shows nothing, or changes how those around it are shown: controls, what turns the direction of a text, and what has no
// width. A name that has one looks like another name. Joiners are among them, also where a script has a use for them; variation selectors are not, which
// choose between pictures.
func unseen(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r == '\u2800': // the pattern of Braille without a dot
		return true
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // are seen, although they are of the same category
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// visibly writes what a template makes, with the mark for a character that cannot be shown in the place of each that is not seen. What others have written is
// in every text of every page, so that it is done here for all of them. Left as they are: what a form sends back, which is in its fields, and JSON. A template
// shows manifests by manifest, so that they can be copied.
func visibly(w io.Writer, t *template.Template, name string, data any) error {
	var page bytes.Buffer
	if err := t.ExecuteTemplate(&page, name, data); err != nil {
		return err
	}
	if !bytes.ContainsFunc(page.Bytes(), unseen) { // as nearly all of them
		_, err := page.WriteTo(w)
		return err
	}
	return show(w, &page)
}

// show writes a page as visibly does.
func show(w io.Writer, page io.Reader) error {
	tokens := html.NewTokenizer(page)
	field := false // the next text is one that a form sends back
	for {
		kind := tokens.Next()
		raw := tokens.Raw()
		switch kind {
		case html.ErrorToken:
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				return fmt.Errorf("read the page: %w", err)
			}
			_, err := w.Write(raw)
			return err
		case html.TextToken:
			if !field {
				raw = bytes.Map(mark, raw)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			changed := bytes.ContainsFunc(raw, unseen)
			name, more := tokens.TagName()
			if field = string(name) == "textarea"; changed {
				raw = markTag(kind, string(name), more, tokens)
			}
		case html.EndTagToken:
			field = false
		}
		if _, err := w.Write(raw); err != nil {
			return err
		}
	}
}

// mark is what stands for a character that is not seen, and every other character itself.
func mark(r rune) rune {
	if unseen(r) {
		return unicode.ReplacementChar
	}
	return r
}

// markTag is a tag with what is not seen marked in all attributes but the value of a field.
func markTag(kind html.TokenType, name string, more bool, tokens *html.Tokenizer) []byte {
	out := html.Token{Type: kind, Data: name}
	for more {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		a := html.Attribute{Key: string(key), Val: string(value)}
		if a.Key != "value" {
			a.Val = strings.Map(mark, a.Val)
		}
		out.Attr = append(out.Attr, a)
	}
	return []byte(out.String())
}

// manifest is YAML that says the same, with what is not seen escaped: it can be read as what it is, and copied.
func manifest(text string) string {
	if !strings.ContainsFunc(text, unseen) {
		return text
	}
	escaped, err := escapedYAML(text)
	if err != nil { // it is no whole document: a page shows the beginning of what is long
		return replaceUnseen(text, escapeOf)
	}
	return escaped
}

// Characters of the private area that are around the number of one that is to be escaped, as long as YAML is written. Those that are there already are escaped, too.
const escapeBegins, escapeEnds = '\ue000', '\ue001'

var toEscape = regexp.MustCompile(string(escapeBegins) + "([0-9]+)" + string(escapeEnds))

func isEscaped(r rune) bool { return unseen(r) || r == escapeBegins || r == escapeEnds }

// escapeOf is a character as double quotes of YAML have it.
func escapeOf(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08X`, r)
	}
	return fmt.Sprintf(`\u%04X`, r)
}

func replaceUnseen(text string, with func(rune) string) string {
	var out strings.Builder
	for _, r := range text {
		if isEscaped(r) {
			out.WriteString(with(r))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// escapedYAML writes documents with what is not seen as escapes.
func escapedYAML(text string) (string, error) {
	var out strings.Builder
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		quoteUnseen(&document)
		if err := encoder.Encode(&document); err != nil {
			return "", err
		}
	}
	if err := encoder.Close(); err != nil {
		return "", err
	}
	return toEscape.ReplaceAllStringFunc(out.String(), func(found string) string {
		number, err := strconv.Atoi(toEscape.FindStringSubmatch(found)[1])
		if err != nil || number > unicode.MaxRune {
			return found // it is no number of this function, as those of others are escaped
		}
		return escapeOf(rune(number))
	}), nil
}

// quoteUnseen puts double quotes around what has a character that is not seen, and its number in the place of it: the writer of YAML escapes not all of them.
func quoteUnseen(n *yaml.Node) {
	for _, comment := range []*string{&n.HeadComment, &n.LineComment, &n.FootComment} {
		*comment = replaceUnseen(*comment, escapeOf)
	}
	if n.Kind == yaml.ScalarNode && strings.ContainsFunc(n.Value, isEscaped) {
		n.Value = replaceUnseen(n.Value, func(r rune) string { return string(escapeBegins) + strconv.Itoa(int(r)) + string(escapeEnds) })
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		quoteUnseen(child)
	}
}
