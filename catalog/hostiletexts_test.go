package catalog

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/test/sweep"
)

const mib = 1 << 20

// hostileText is made to cost much.
type hostileText struct {
	text  string
	bound uint64 // of bytes allocated, all in all
	want  string // part of the error; empty when there is none
}

func hostileNesting() map[string]hostileText {
	return map[string]hostileText{
		"nested lists, YAML":   {"a: " + strings.Repeat("[", 1<<20), 400 * mib, "not YAML"},
		"nested objects, YAML": {"a: " + strings.Repeat("{", 1<<19), 400 * mib, "not YAML"},
		"nested dashes, YAML":  {strings.Repeat("- ", 1<<20), 800 * mib, "not YAML"},
		"nested keys, YAML":    {strings.Repeat("? ", 1<<19) + "x", 400 * mib, "not YAML"},
		"many levels of lines": {staircase(3000), 400 * mib, "nested too deeply"},
		"tags upon tags":       {"schema: custom\na: " + strings.Repeat("!a ", 1<<19) + "x\n", 200 * mib, "not YAML"},
		"nested lists, JSON":   {`{"a":` + strings.Repeat("[", 16*mib), 200 * mib, "nested too deeply"},
		"nested objects, JSON": {strings.Repeat(`{"a":`, 4*mib), 200 * mib, "nested too deeply"},
		"keys to be sorted at each level": {
			`{"schema":"custom","x":[` + strings.TrimSuffix(strings.Repeat(strings.Repeat(`{"b":1,"a":`, 90)+"1"+strings.Repeat("}", 90)+",", 5000), ",") + "]}",
			600 * mib, "",
		},
	}
}

// staircase is indented by one more space each line.
func staircase(steps int) string {
	var b strings.Builder
	for i := range steps {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func hostileScalars() map[string]hostileText {
	return map[string]hostileText{
		"giant scalar":            {"schema: custom\nname: " + strings.Repeat("x", 40*mib), 200 * mib, "a document has more than"},
		"giant document, JSON":    {`{"schema":"custom","a":"` + strings.Repeat("x", 40*mib), 200 * mib, "a document has more than"},
		"giant comment":           {"# " + strings.Repeat("x", 40*mib), 10 * mib, ""},
		"giant key, YAML":         {"schema: custom\n? " + strings.Repeat("k", 8*mib) + "\n: x\n", 400 * mib, ""},
		"giant key, JSON":         {`{"schema":"custom","` + strings.Repeat("k", 8*mib) + `":1}`, 200 * mib, ""},
		"giant number, YAML":      {"schema: custom\na: " + strings.Repeat("1", 8*mib) + "\n", 200 * mib, ""},
		"giant number, hex":       {"schema: custom\na: 0x" + strings.Repeat("f", 8*mib) + "\n", 200 * mib, ""},
		"giant number, JSON":      {`{"schema":"custom","a":` + strings.Repeat("1", 8*mib) + "}", 100 * mib, ""},
		"giant anchor":            {"schema: custom\na: &" + strings.Repeat("a", 8*mib) + " x\n", 200 * mib, ""},
		"giant tag":               {"schema: custom\na: !" + strings.Repeat("a", 8*mib) + " x\n", 200 * mib, ""},
		"giant icon":              {`{"schema":"olm.package","name":"p","icon":{"base64data":"` + strings.Repeat("AAAA", 7*mib) + `","mediatype":"x"}}`, 500 * mib, ""},
		"invalid text, JSON":      {`{"schema":"custom","a":"` + strings.Repeat("\xff", 16*mib) + `"}`, 300 * mib, ""},
		"invalid text, YAML":      {"schema: custom\na: " + strings.Repeat("\xff", 16*mib), 300 * mib, "not YAML"},
		"escapes":                 {`{"schema":"custom","a":"` + strings.Repeat(`\u0061`, 2*mib) + `"}`, 200 * mib, ""},
		"backslashes":             {`{"schema":"custom","a":"` + strings.Repeat(`\"`, 8*mib) + `"}`, 200 * mib, ""},
		"words over lines":        {"schema: custom\na: &x\n" + strings.Repeat("  word\n", 1<<19), 300 * mib, ""},
		"quoted words over lines": {"schema: custom\na: &x \"" + strings.Repeat("word\n  ", 1<<19) + "\"\n", 300 * mib, ""},
		"blank lines of spaces":   {"schema: custom\na: &x b\n" + strings.Repeat(strings.Repeat(" ", 100)+"\n", 100_000) + "c: d\n", 200 * mib, ""},
	}
}

func hostileCrowds() map[string]hostileText {
	tiny := sweep.Of(100_000, 200_000, 1_000_000)
	return map[string]hostileText{
		"many short lines":        {strings.Repeat("-\n", 8*mib), 400 * mib, "the document is a list"},
		"many short lines, flow":  {"a: [" + strings.Repeat("x,", 8*mib) + "x]", 200 * mib, "the document has more than"},
		"many comments":           {"schema: custom\na: &x b\n" + strings.Repeat("# c\n", 1_000_000) + "d: e\n", 200 * mib, ""},
		"many comments of values": {"schema: custom\na:\n" + strings.Repeat("- &x b # c\n  # d\n", 40_000), 400 * mib, ""},
		"many anchors":            {"schema: custom\na:\n" + numbered("- &a%d x\n", 90_000), 200 * mib, ""},
		"many directives":         {strings.Repeat("%YAML 1.1\n", mib), 50 * mib, ""},
		"many entries":            {`{"schema":"olm.channel","entries":[` + strings.Repeat("{},", 8*mib), 200 * mib, "not JSON"},
		"many entries, complete":  {`{"schema":"olm.channel","entries":[` + strings.Repeat("{},", 8*mib) + "{}]}", 200 * mib, "more than 100000 items"},
		"many fields":             {`{"schema":"custom"` + strings.Repeat(`,"a":1`, 4*mib) + "}", 200 * mib, "more than 100000 fields"},
		"many fields of one name": {`{"schema":"custom"` + strings.Repeat(`,"a":1`, 99_000) + "}", 200 * mib, ""},
		"many skips":              {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"a","skips":[` + strings.Repeat(`"a",`, 1_000_000) + `"a"]}]}`, 300 * mib, ""},
		"many broken documents":   {strings.Repeat("{}\n", 500_000), 1500 * mib, "499900 more problems"},
		"many documents":          {strings.Repeat("---\n", 8*mib), 10 * mib, ""},
		"many tiny objects, JSON": {strings.Repeat("{\"schema\":\"x\"}\n", tiny), uint64(tiny) * 1500 * mib / 1_000_000, ""},
		"many tiny objects, YAML": {strings.Repeat("---\nschema: x\n", 300_000), 500 * mib, ""},
		"many channels":           {numbered("---\nschema: olm.channel\npackage: p\nname: c%d\nentries:\n- name: p.v1\n", 100_000) + "---\nschema: olm.package\nname: p\n", 600 * mib, ""},
	}
}

func hostileReferences() map[string]hostileText {
	large := "schema: custom\na: &a {" + numbered("k%d: 1, ", 90_000) + "}\n"
	return map[string]hostileText{
		"aliases of aliases":          {aliasBomb(), 400 * mib, "too many aliases"},
		"merges of one large object":  {large + "b: {<<: [" + strings.Repeat("*a, ", 990) + "]}\n", 400 * mib, "merge keys bring in more than"},
		"merges of many objects":      {large + numbered("b%d: {<<: *a}\n", 990), 900 * mib, "not YAML"},
		"merges that merge":           {mergeLadder(), 400 * mib, "not YAML"},
		"aliases of one large object": {large + "b: [" + strings.Repeat("*a, ", 990) + "]\n", 900 * mib, "larger than the limit"},
	}
}

func hostileBundles() map[string]hostileText {
	const bundle = `{"schema":"olm.package","name":"p"}{"schema":"olm.bundle","package":"p","name":"b",`
	return map[string]hostileText{
		"large manifest":             {bundle + `"properties":[{"type":"olm.bundle.object","value":{"data":"` + strings.Repeat("eHh4", 4*mib) + `"}}]}`, 300 * mib, ""},
		"many payloads among others": {bundle + `"properties":[` + strings.Repeat(`{"type":"olm.csv.metadata","value":{}},{"type":"x","value":1},`, 49_000) + `{"type":"y","value":1}]}`, 300 * mib, ""},
		"giant image":                {bundle + `"image":"` + strings.Repeat("a/", 4*mib) + `a"}`, 200 * mib, ""},
		"giant range":                {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"a","skipRange":"` + strings.Repeat(">1.0.0 || ", mib) + `>1.0.0"}]}`, 200 * mib, ""},
		"giant version":              {bundle + `"properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0-` + strings.Repeat("a.", 4*mib) + `a"}}]}`, 200 * mib, ""},
	}
}

// numbered repeats a text with the numbers from 0.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// aliasBomb would be 3.5 GB once its aliases are replaced.
func aliasBomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 9))
	}
	return b.String()
}

// mergeLadder merges at each level nine times what is one level below.
func mergeLadder() string {
	var b strings.Builder
	b.WriteString("schema: custom\na0: &a0 {x: 1, y: 2}\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d {<<: [%s]}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 9))
	}
	return b.String()
}
