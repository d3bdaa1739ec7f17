package command

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/test/must"
)

// visible shows the codes of colours as letters.
var visible = strings.NewReplacer("\x1b[0m", "}", "\x1b[1m", "{b ", "\x1b[2m", "{d ", "\x1b[31m", "{r ", "\x1b[32m", "{g ", "\x1b[33m", "{y ")

// TestStyled: what people see of a text, by the style.
func TestStyled(t *testing.T) {
	const tree = "Namespace demo\n├── ✓ OperatorGroup all (all namespaces)\n│   └── ✗ Subscription guestbook (package guestbook, channel stable) Failed\n└── · CatalogSource a\n"
	const table = "NAME  HELD BY\na     nothing that is worth more than a word\n\nafter a table a line is folded as text is\n"
	for name, test := range map[string]struct {
		style style
		text  string
		want  string
	}{
		"as it is":  {style{}, tree + table, tree + table},
		"in colour": {style{color: true}, tree, "{b Namespace demo}\n{d ├── }{g ✓ }OperatorGroup all (all namespaces)\n{d │   └── }{r ✗ }Subscription guestbook (package guestbook, channel stable) Failed\n{d └── }{d · }CatalogSource a\n"},
		"folded": {style{width: 40}, tree, "Namespace demo\n├── ✓ OperatorGroup all (all namespaces)\n│   └── ✗ Subscription guestbook\n│         (package guestbook, channel\n│         stable) Failed\n" +
			"└── · CatalogSource a\n"},
		"in ASCII":                       {style{ascii: true}, tree + "a → b…\n", "Namespace demo\n|-- [ok] OperatorGroup all (all namespaces)\n|   `-- [!!] Subscription guestbook (package guestbook, channel stable) Failed\n`-- [--] CatalogSource a\na -> b...\n"},
		"in ASCII, folded and in colour": {style{ascii: true, width: 40, color: true}, "│   └── ✗ Subscription guestbook (package guestbook)\n", "{d |   `-- }{r [!!] }Subscription guestbook\n{d |            }(package guestbook)\n"},
		"a table":                        {style{width: 28, color: true}, table, "{b NAME  HELD BY}\na     nothing that is worth\n      more than a word\n\nafter a table a line is\n  folded as text is\n"},
		"names of objects in blocks":     {style{width: 24}, "  KIND  NAMESPACE  NAME  WHY\n  Role  ops        a     it stays\n  Node  -          b     it goes\n", "  Role ops/a\n    WHY  it stays\n  Node b\n    WHY  it goes\n"},
		"a kind without a namespace":     {style{width: 24}, "KIND   NAMESPACE  COUNT\nGreet  -          2\n", "Greet\n  COUNT  2\n"},
		"names of objects in lists":      {style{width: 24}, "NAMESPACE  NAME  STATE\nops        a     ok\n-          b     gone\n", "ops/a\n  STATE  ok\nb\n  STATE  gone\n"},
		"a table that is too wide": {style{width: 40}, "SUBSCRIPTION                     INSTALLED      NEXT  SUPPORT\ngreeter-operator-stable-catalog  greeter.v1.2.0  -     ✓ until the end of the year after next\n" +
			"b                                b.v1            -     -\n", "greeter-operator-stable-catalog\n  INSTALLED  greeter.v1.2.0\n  SUPPORT    ✓ until the end of the year\n             after next\nb\n  INSTALLED  b.v1\n"},
		"a headline":                {style{color: true, width: 30}, "✗ it cannot be installed because it is not there\n", "{r ✗ }{b it cannot be installed}\n  {b because it is not there}\n"},
		"a command is not folded":   {style{width: 20}, "  fairlead uninstall guestbook -n demo\n", "  fairlead uninstall guestbook -n demo\n"},
		"an error":                  {style{color: true, width: 30}, "fairlead: install package a: there is none\nnote: b\nwarning: c\n", "{r fairlead: }install package a:\n  there is none\n{d note: }b\n{y warning: }c\n"},
		"a line with a time":        {style{color: true}, "   0.21s ✓ deleted\n", "{d    0.21s }{g ✓ }deleted\n"},
		"a graph, in ASCII":         {style{ascii: true}, "  ● a.v2  (head)\n  │   skips a.v1\n  ○ a.v1  (skipped)\n", "  * a.v2  (head)\n  |   skips a.v1\n  o a.v1  (skipped)\n"},
		"no marks, in ASCII":        {style{ascii: true, color: true}, "x is a letter\n+ added\n- removed\n|-- drawn\n", "x is a letter\n+ added\n- removed\n|-- drawn\n"},
		"no marks":                  {style{color: true}, "x is a letter\n  + added\n  - removed\n", "x is a letter\n  + added\n  - removed\n"},
		"differences are hanging":   {style{width: 20}, "    + one two three four\n", "    + one two three\n      four\n"},
		"an indented text":          {style{width: 24}, "    .spec.image: a:1 -> b:2\n    .spec.other: a -> b\n", "    .spec.image: a:1\n      -> b:2\n    .spec.other: a -> b\n"},
		"a text beside a key":       {style{width: 36}, "  because    it requires one two three\n✗ API services  none of them is there\n", "  because    it requires one two\n             three\n✗ API services  none of them is\n                there\n"},
		"a key that is too long":    {style{width: 30}, "  because of that    it requires one two\n", "  because of that    it\n    requires one two\n"},
		"a remedy":                  {style{width: 20}, "    → see that it answers\n", "    → see that it\n      answers\n"},
		"a longer title":            {style{color: true}, "CustomResourceDefinitions:\nin a sentence that ends with a colon:\n", "{b CustomResourceDefinitions:}\nin a sentence that ends with a colon:\n"},
		"wide characters":           {style{width: 22}, "日本語 日本語 日本語 日本語\n", "日本語 日本語 日本語\n  日本語\n"},
		"a word that is too long":   {style{width: 20}, "a " + strings.Repeat("x", 30) + " b\n", "a\n  " + strings.Repeat("x", 30) + "\n  b\n"},
		"an empty line":             {style{width: 20, color: true}, "\n\n", "\n\n"},
		"a paragraph with a colon:": {style{color: true}, "Goes:\n", "{b Goes:}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			n, err := io.WriteString(&styled{out: &b, style: test.style}, test.text)
			must.NoError(t, err)
			must.Equal(t, "written", n, len(test.text))
			must.Equal(t, "text", visible.Replace(b.String()), test.want)
		})
	}
}

// TestStyledTables: columns stay columns, whatever is in them and however it is shown.
func TestStyledTables(t *testing.T) {
	marks := messages.Table([]string{"NAME", "STATE", "ABOUT"}, []string{"a…", "✗ gone", "x y z…"}, []string{"bb", "✓ there", "z"})
	wide := messages.Table([]string{"NAME", "STATE", "ABOUT"}, []string{"日本語の名前", "🚀 ready", "one two three four five six"}, []string{"b", "no", "x"})
	for name, test := range map[string]struct {
		style style
		text  string
		want  string
	}{
		"marks":                 {style{}, marks, "NAME  STATE    ABOUT\na…    ✗ gone   x y z…\nbb    ✓ there  z\n"},
		"in ASCII":              {style{ascii: true}, marks, "NAME  STATE       ABOUT\na...  [!!] gone   x y z...\nbb    [ok] there  z\n"},
		"in colour":             {style{ascii: true, color: true}, marks, "{b NAME  STATE       ABOUT}\na...  {r [!!] }gone   x y z...\nbb    {g [ok] }there  z\n"},
		"ASCII in block":        {style{ascii: true, color: true, width: 20}, marks, "{b a...}\n{d   STATE  }{r [!!] }gone\n{d   ABOUT  }x y z...\n{b bb}\n{d   STATE  }{g [ok] }there\n{d   ABOUT  }z\n"},
		"a long heading":        {style{width: 32, color: true}, "NAME  CHANGES WITH THE NEXT REVISION\na     it goes\n", "{b NAME  CHANGES WITH THE NEXT\n      REVISION}\na     it goes\n"},
		"wide":                  {style{}, wide, "NAME          STATE     ABOUT\n日本語の名前  🚀 ready  one two three four five six\nb             no        x\n"},
		"wide, folded":          {style{width: 44}, wide, "NAME          STATE     ABOUT\n日本語の名前  🚀 ready  one two three four\n                        five six\nb             no        x\n"},
		"wide, a block":         {style{width: 30}, wide, "日本語の名前\n  STATE  🚀 ready\n  ABOUT  one two three four\n         five six\nb\n  STATE  no\n  ABOUT  x\n"},
		"aligned by characters": {style{width: 60}, "NAME    STATE  ABOUT\n日本語  ok     x\nb       no     z\n", "NAME    STATE  ABOUT\n日本語  ok     x\nb       no     z\n"},
		"indented":              {style{ascii: true}, "  NAME  STATE\n  …     a\n", "  NAME  STATE\n  ...   a\n"},
		"an empty cell":         {style{ascii: true}, "NAME  STATE  ABOUT\na            b\n", "NAME  STATE  ABOUT\na            b\n"},
		"two spaces in a cell":  {style{ascii: true}, "NAME  STATE  ABOUT\na     b      c  d\n", "NAME  STATE  ABOUT\na     b      c  d\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			must.Value(io.WriteString(&styled{out: &b, style: test.style}, test.text))(t)
			must.Equal(t, "text", visible.Replace(b.String()), test.want)
		})
	}
}

// TestStyledTableInPieces: rows that are written later are aligned with those before.
func TestStyledTableInPieces(t *testing.T) {
	var b bytes.Buffer
	s := &styled{out: &b, style: style{ascii: true}}
	for _, piece := range []string{"NAME  STATE\n…     a\n", "b     c\n", "YES   NO\n", "\nNAME…\n"} {
		must.Value(io.WriteString(s, piece))(t)
	}
	must.Equal(t, "text", b.String(), "NAME  STATE\n...   a\nb     c\nYES   NO\n\nNAME...\n")
	b.Reset()
	s = &styled{out: &b, style: style{width: 30, color: true}}
	for _, piece := range []string{"SUBSCRIPTION  STATE\n", "YES           NO\n"} {
		must.Value(io.WriteString(s, piece))(t)
	}
	must.Equal(t, "a row in capitals", visible.Replace(b.String()), "{b YES}\n{d   STATE  }NO\n")
}

// TestCommandsAreNotFolded: what people copy is in one line, and sentences about programs are folded.
func TestCommandsAreNotFolded(t *testing.T) {
	for text, want := range map[string]string{
		"see it with: fairlead status etcd -n ops; change it with: fairlead upgrade etcd -n ops --channel alpha; or wait": "see it with:\n  fairlead status etcd -n ops;\n  change it with:\n  fairlead upgrade etcd -n ops --channel alpha;\n  or wait",
		"try `kubectl -n ops get service,pods -o wide` shows it":                                                          "try\n  `kubectl -n ops get service,pods -o wide`\n  shows it",
		"kubectl annotate crd a b='one, two; three' c=d and then go on":                                                   "kubectl annotate crd a b='one, two; three' c=d\n  and then go on",
		"fairlead plan x --missing-roles | kubectl auth reconcile -f -":                                                   "fairlead plan x --missing-roles | kubectl auth reconcile -f -",
		"(fairlead search lists what there is) and more of it":                                                            "(fairlead search lists\n  what there is) and\n  more of it",
		"what fairlead does here is what kubectl is run for, and what helm would do":                                      "what fairlead does\n  here is what kubectl\n  is run for, and what\n  helm would do",
		"to go on: fairlead approve a -n b, or set its spec.approved to true":                                             "to go on:\n  fairlead approve a -n b,\n  or set its\n  spec.approved to\n  true",
		"start it: fairlead cluster start on the user's machine, and all of it is there":                                  "start it:\n  fairlead cluster start on the user's machine,\n  and all of it is\n  there",
		"the end is a program, fairlead":                                                                                  "the end is a program,\n  fairlead",
	} {
		var b bytes.Buffer
		must.Value(io.WriteString(&styled{out: &b, style: style{width: 22}}, text+"\n"))(t)
		must.Equal(t, text, b.String(), want+"\n")
	}
	must.Equal(t, "in a table", fold("waits; fairlead approve a -n b", 10, 10), []string{"waits;", "fairlead approve a -n b"})
}

// TestStyledInPieces: a question goes out before its line ends, and a line that is taken away begins another.
func TestStyledInPieces(t *testing.T) {
	var b bytes.Buffer
	s := &styled{out: &b, style: style{width: 20}}
	for _, piece := range []string{"Remove all of it, in one go? [y/N] ", "yes and a long answer\n", "  … pulling", "\r" + erased, "✓ folded after that was taken away\n"} {
		must.Value(io.WriteString(s, piece))(t)
	}
	must.Equal(t, "text", b.String(), "Remove all of it, in one go? [y/N] yes and a long answer\n  … pulling\r"+erased+"✓ folded after that\n  was taken away\n")
}

// TestLook: the environment and the flag decide, and what programs read is never touched.
func TestLook(t *testing.T) {
	const text = "✓ a\n"
	for name, test := range map[string]struct {
		env   map[string]string
		color string
		want  string
	}{
		"a pipe":                 {nil, colorAuto, text},
		"always":                 {map[string]string{"NO_COLOR": "1"}, colorAlways, "{g ✓ }a\n"},
		"never":                  {nil, colorNever, text},
		"the C locale":           {map[string]string{"LANG": "C"}, colorAuto, "[ok] a\n"},
		"the POSIX locale":       {map[string]string{"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, colorAuto, "[ok] a\n"},
		"Latin 1":                {map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1"}, colorAuto, "[ok] a\n"},
		"UTF-8":                  {map[string]string{"LC_ALL": "C.utf8", "LANG": "C"}, colorAuto, text},
		"a width without screen": {map[string]string{"COLUMNS": "20"}, colorAuto, text},
	} {
		t.Run(name, func(t *testing.T) {
			look := NewLook(func(key string) string { return test.env[key] })
			look.color = test.color
			var out, err bytes.Buffer
			results, errs := look.Results(&out), look.Messages(&err)
			must.Value(io.WriteString(results, text))(t)
			must.Equal(t, "what programs read", out.String(), text)
			out.Reset()
			must.NoError(t, OutputText.Write(results, nil, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
			must.Equal(t, "for people", visible.Replace(out.String()), test.want)
			out.Reset()
			must.NoError(t, OutputJSON.Write(results, text, nil))
			must.Equal(t, "JSON", out.String(), "\"✓ a\\n\"\n")
			must.Value(io.WriteString(errs, text))(t)
			must.Equal(t, "messages", visible.Replace(err.String()), test.want)
			err.Reset()
			must.Value(io.WriteString(Raw(errs), text))(t)
			must.Equal(t, "logs", err.String(), text)
			must.Equal(t, "width", Width(results), 0)
		})
	}
	look := NewLook(func(string) string { return "" })
	look.color = "sometimes"
	must.Fail(t, "check", look.Check(), `--color "sometimes": choose auto, always or never`)
	must.Equal(t, "another writer", Styled(io.Discard), io.Discard)
}

// TestParagraphs: help is folded, and what is indented stays.
func TestParagraphs(t *testing.T) {
	must.Equal(t, "text", Paragraphs("One line that\nis continued.\n\n  NEXT  stays\n  OTHER is longer than that\nafter it", 20), "One line that is\ncontinued.\n\n  NEXT  stays\n  OTHER is longer\n    than that\nafter it")
}

// TestHelpLines: lists of commands and sentences are folded, and commands are not.
func TestHelpLines(t *testing.T) {
	must.Equal(t, "text", helpLines("Write catalogs:\n  check       Find what stands between one and two\n  must-gather Write one archive of all that helps\n\n  fairlead topic  The flags of kubectl, and more\n  fairlead catalog add mine quay.io/example/catalog:v1\n  fairlead catalog add-bundle CATALOG BUNDLE [flags]\nUse `fairlead check --help` for more information about it\n", 36),
		"Write catalogs:\n  check       Find what stands\n              between one and two\n  must-gather Write one archive of\n              all that helps\n\n  fairlead topic  The flags of\n      kubectl, and more\n  fairlead catalog add mine quay.io/example/catalog:v1\n  fairlead catalog add-bundle CATALOG BUNDLE [flags]\nUse `fairlead check --help` for more\n  information about it\n")
}
