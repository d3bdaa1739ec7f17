package docstream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"fairlead.dev/fairlead/test/must"
)

// cut lists the documents of a text as "line format text".
func cut(t testing.TB, text string, limit int) []string {
	t.Helper()
	r := NewReader(strings.NewReader(text), limit)
	var all []string
	var buf []byte
	for {
		d, err := r.Next(buf)
		var large *TooLargeError
		switch {
		case err == io.EOF:
			return all
		case errors.As(err, &large):
			all = append(all, fmt.Sprintf("%d too large", large.Line))
			continue
		case err != nil:
			t.Fatal(err)
		}
		format := "yaml"
		if d.JSON {
			format = "json"
		}
		all = append(all, fmt.Sprintf("%d %s %s", d.Line, format, d.Text))
		buf = d.Text
	}
}

var streams = map[string]struct {
	text string
	want []string
}{
	"empty":                         {"", nil},
	"only space and comments":       {"\n  \n# x\n---\n# y\n...\n", nil},
	"one YAML document":             {"a: b\nc: d\n", []string{"1 yaml a: b\nc: d\n"}},
	"no line break at the end":      {"a: b", []string{"1 yaml a: b"}},
	"documents":                     {"---\na: b\n---\nc: d\n", []string{"2 yaml a: b\n", "4 yaml c: d\n"}},
	"comment before content":        {"# x\n\n  a: b\n", []string{"3 yaml   a: b\n"}},
	"comment inside":                {"a: b\n# x\nc: d\n", []string{"1 yaml a: b\n# x\nc: d\n"}},
	"separators with space":         {"a: b\n--- \nc: d\n---\t# x\ne: f\n", []string{"1 yaml a: b\n", "3 yaml c: d\n", "5 yaml e: f\n"}},
	"content after a separator":     {"a: b\n--- {c: d}\n", []string{"1 yaml a: b\n", "2 yaml --- {c: d}\n"}},
	"not a separator":               {"a: b\n---c: d\n", []string{"1 yaml a: b\n---c: d\n"}},
	"end marks":                     {"a: b\n...\nc: d\n", []string{"1 yaml a: b\n", "3 yaml c: d\n"}},
	"directives":                    {"%YAML 1.2\n---\na: b\n", []string{"3 yaml a: b\n"}},
	"line breaks of Windows":        {"---\r\na: b\r\n---\r\nc: d\r\n", []string{"2 yaml a: b\r\n", "4 yaml c: d\r\n"}},
	"byte order mark":               {"\ufeff{\"a\":1}", []string{"1 json {\"a\":1}"}},
	"one JSON object":               {`{"a":1}`, []string{`1 json {"a":1}`}},
	"objects on one line":           {`{"a":1}{"b":2} {"c":3}`, []string{`1 json {"a":1}`, `1 json {"b":2}`, `1 json {"c":3}`}},
	"objects on lines":              {"{\"a\":1}\n{\"b\":2}\n\n{}\n", []string{`1 json {"a":1}`, `2 json {"b":2}`, `4 json {}`}},
	"object over lines":             {"{\n \"a\": [\n1]\n}\n{\n}", []string{"1 json {\n \"a\": [\n1]\n}", "5 json {\n}"}},
	"brackets in strings":           {`{"a":"}\"}","b":"\\"}{}`, []string{`1 json {"a":"}\"}","b":"\\"}`, `1 json {}`}},
	"JSON with separators":          {"---\n{\"a\":1}\n---\n{\"b\":2}\n", []string{`2 json {"a":1}`, `4 json {"b":2}`}},
	"JSON, then YAML":               {"{\"a\":1}\nb: c\n---\n{\"d\":2}", []string{`1 json {"a":1}`, "2 yaml b: c\n", `4 json {"d":2}`}},
	"text after JSON":               {`{"a":1}, {"b":2}`, []string{`1 json {"a":1}`, `1 yaml , {"b":2}`}},
	"comment after JSON":            {"{\"a\":1} # x\n{\"b\":2}", []string{`1 json {"a":1}`, `2 json {"b":2}`}},
	"flow style is YAML":            {"{a: '}'}\n---\n{\n  b: c}\n", []string{"1 yaml {a: '}'}\n", "3 yaml {\n  b: c}\n"}},
	"JSON that does not end":        {`{"a":[1`, []string{`1 json {"a":[1`}},
	"list":                          {"[{\"a\":1}]\n", []string{"1 yaml [{\"a\":1}]\n"}},
	"too large, then the next":      {"a: " + strings.Repeat("x", 300) + "\n---\nb: c\n", []string{"1 too large", "3 yaml b: c\n"}},
	"JSON too large, then next":     {"{\"a\": \"" + strings.Repeat("}", 300) + "\"}{\"b\":1}", []string{"1 too large", `1 json {"b":1}`}},
	"lines larger than a buffer":    {"a: b\n# " + strings.Repeat("x", 3*bufferSize) + "\n---\nb: c\n", []string{"1 too large", "4 yaml b: c\n"}},
	"comments larger than a buffer": {"# " + strings.Repeat("x", 2*bufferSize) + "\nb: c\n", []string{"2 yaml b: c\n"}},
}

func TestNext(t *testing.T) {
	for name, s := range streams {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "documents", cut(t, s.text, 256), s.want)
		})
	}
}

func TestNextReportsReadErrors(t *testing.T) {
	failure := errors.New("the disk is gone")
	for _, text := range []string{"", "# x\n", "a: b\n", `{"a":`} {
		r := NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(failure)), 256)
		if _, err := r.Next(nil); !errors.Is(err, failure) {
			t.Errorf("after %q: error %v, want %v", text, err, failure)
		}
	}
}

func TestUTF16(t *testing.T) {
	const text = "schema: custom\r\nname: \"ü€😀\"\r\n---\r\n{\"a\":1}"
	want := cut(t, text, 256)
	for order, mark := range map[binary.AppendByteOrder]string{binary.LittleEndian: "\xff\xfe", binary.BigEndian: "\xfe\xff"} {
		encoded := []byte(mark)
		for _, unit := range utf16.Encode([]rune(text)) {
			encoded = order.AppendUint16(encoded, unit)
		}
		if NewReader(bytes.NewReader(encoded), 256).Binary() {
			t.Errorf("%v: taken for something else than text", order)
		}
		must.Equal(t, fmt.Sprintf("%v: documents", order), cut(t, string(encoded), 256), want)
		small := iotest.OneByteReader(NewReader(bytes.NewReader(encoded), 256).in)
		if got, err := io.ReadAll(small); string(got) != text || err != nil {
			t.Errorf("%v: read byte by byte: %q, %v", order, got, err)
		}
	}
	for text, want := range map[string]string{
		"\xff\xfea\x00\x00\xd8":            "a\ufffd", // half a pair at the end
		"\xff\xfea\x00\x00\xd8b\x00":       "a\ufffdb",
		"\xff\xfea\x00\x00\xdcb\x00":       "a\ufffdb",
		"\xff\xfea\x00b":                   "a\ufffd", // half a character
		"\xff\xfe":                         "",
		"\xfe\xff\x00a":                    "a",
		"\xff":                             "\xff",
		"\xef\xbb\xbfa":                    "a",
		"\xff\xfe\x3d\xd8\x00\xdea\x00":    "😀a",
		"\xff\xfe\x3d\xd8\x3d\xd8\x00\xde": "\ufffd😀",
	} {
		got, err := io.ReadAll(NewReader(strings.NewReader(text), 256).in)
		if string(got) != want || err != nil {
			t.Errorf("%q is read as %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestBinary(t *testing.T) {
	for text, want := range map[string]bool{"a: b": false, "": false, "\x89PNG\r\n\x1a\n\x00\x00": true} {
		must.Equal(t, fmt.Sprint(text)+": NewReader", NewReader(strings.NewReader(text), 256).Binary(), want)
	}
}

// FuzzNext checks that cutting ends, keeps to the limit, and that every
// document stands in the text at the line it says.
func FuzzNext(f *testing.F) {
	for _, s := range streams {
		if len(s.text) < 1<<10 {
			f.Add(s.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			t.Skip("documents of UTF-16 do not stand in the text as they are")
		}
		lines := strings.SplitAfter(strings.TrimPrefix(text, "\ufeff"), "\n")
		r := NewReader(strings.NewReader(text), 256)
		for {
			d, err := r.Next(nil)
			if err == io.EOF {
				return
			}
			var large *TooLargeError
			if errors.As(err, &large) {
				continue
			}
			must.NoError(t, err)
			if len(d.Text) > 256 || len(d.Text) == 0 {
				t.Errorf("document of %d bytes", len(d.Text))
			}
			if d.Line > len(lines) || !strings.Contains(strings.Join(lines[d.Line-1:], ""), string(d.Text)) {
				t.Errorf("document %q is not at line %d of %q", d.Text, d.Line, text)
			}
		}
	})
}

// TestScanInPieces expects the same end wherever the text is cut in two, and
// when it comes byte by byte.
func TestScanInPieces(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"a":1}`, `{"a":"}"}`, `{"\"":"\\"}`, `{"\\\"":["\\\\","\\\\\"}"]}`, `{"\u0022}":"\\"}`, `{"":{"":""}}`, `{"a":"\\\\\\\"\\\\"}`,
	} {
		const more = `{"x":"\"}`
		for split := range len(text) + 1 {
			var s scanner
			end := s.scan([]byte(text[:split]))
			if end == split && s.depth > 0 || !s.begun {
				end = split + s.scan([]byte(text[split:]+more))
			}
			must.Equal(t, text+": end", end, len(text))
		}
		var s scanner
		for i := range text {
			s.scan([]byte(text[i : i+1]))
			must.Equal(t, text+": s.begun && s.depth == 0", s.begun && s.depth == 0, i == len(text)-1)
		}
	}
}
