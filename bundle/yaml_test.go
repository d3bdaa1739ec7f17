package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"

	"github.com/google/go-cmp/cmp"
	kjson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"
)

func TestDecodeValue(t *testing.T) {
	tests := map[string]struct {
		yaml string
		want any
		warn string
	}{
		"texts and numbers":        {yaml: "a: x\nb: 1\nc: 1.5\nd: -7", want: map[string]any{"a": "x", "b": int64(1), "c": 1.5, "d": int64(-7)}},
		"whole floats are integer": {yaml: "a: 1.0\nb: 1e3", want: map[string]any{"a": int64(1), "b": int64(1000)}},
		"large numbers":            {yaml: "a: 9223372036854775807\nb: 18446744073709551615\nc: 1e30", want: map[string]any{"a": int64(1<<63 - 1), "b": 18446744073709551615.0, "c": 1e30}},
		"other bases":              {yaml: "a: 0x1F\nb: 0777\nc: 0b11\nd: 1_000", want: map[string]any{"a": int64(31), "b": int64(511), "c": int64(3), "d": int64(1000)}},
		"booleans of YAML 1.1":     {yaml: "a: yes\nb: Off\nc: true\nd: n", want: map[string]any{"a": true, "b": false, "c": true, "d": false}},
		"quoted words are texts":   {yaml: "a: 'yes'\nb: \"1\"\nc: !!str on", want: map[string]any{"a": "yes", "b": "1", "c": "on"}},
		"null":                     {yaml: "a: ~\nb:\nc: null", want: map[string]any{"a": nil, "b": nil, "c": nil}},
		"dates are texts":          {yaml: "a: 2024-01-02\nb: 2024-01-02T03:04:05Z", want: map[string]any{"a": "2024-01-02", "b": "2024-01-02T03:04:05Z"}},
		"keys become texts":        {yaml: "1: a\ntrue: b\n1.5: c\n1000000000.0: d", want: map[string]any{"1": "a", "true": "b", "1.5": "c", "1e+09": "d"}},
		"the last key counts":      {yaml: "a: 1\na: 2", want: map[string]any{"a": int64(2)}, warn: `line 2: the key "a" is there twice`},
		"binary":                   {yaml: "a: !!binary aGk=", want: map[string]any{"a": "hi"}},
		"unknown tags":             {yaml: "a: !mine 5", want: map[string]any{"a": "5"}},
		"aliases":                  {yaml: "a: &x [1]\nb: *x", want: map[string]any{"a": []any{int64(1)}, "b": []any{int64(1)}}},
		"an alias as key":          {yaml: "a: &x k\n*x : 1", want: map[string]any{"a": "k", "k": int64(1)}},
		"merge keys":               {yaml: "a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x}", want: map[string]any{"a": map[string]any{"p": int64(1), "q": int64(2)}, "b": map[string]any{"p": int64(1), "q": int64(3)}}},
		"merged lists":             {yaml: "a: &x {p: 1}\nb: &y {p: 2, q: 3}\nc: {<<: [*x, *y]}", want: map[string]any{"a": map[string]any{"p": int64(1)}, "b": map[string]any{"p": int64(2), "q": int64(3)}, "c": map[string]any{"p": int64(1), "q": int64(3)}}},
		"JSON":                     {yaml: `{"a": [1, "x", null, {"b": false}]}`, want: map[string]any{"a": []any{int64(1), "x", nil, map[string]any{"b": false}}}},
		"a list":                   {yaml: "- 1", want: []any{int64(1)}},
		"nothing":                  {yaml: "# only a comment\n", want: nil},
		"comment before the start": {yaml: "# license\n---\na: 1", want: map[string]any{"a": int64(1)}},
		"empty documents first":    {yaml: "---\n---\na: 1\n", want: map[string]any{"a": int64(1)}},
		"an empty document last":   {yaml: "a: 1\n---\n", want: map[string]any{"a": int64(1)}},
		"more documents":           {yaml: "a: 1\n---\nb: 2\n", want: map[string]any{"a": int64(1)}, warn: "only the first YAML document"},
		"a broken document later":  {yaml: "a: 1\n---\nb: [\n", want: map[string]any{"a": int64(1)}, warn: "only the first YAML document"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := decodeValue(file{data: []byte(tc.yaml)}, defaultLimits)
			must.NoError(t, err)
			must.Equal(t, "result", got, tc.want)
			var texts []string
			for _, warning := range warnings {
				texts = append(texts, warning.Error())
			}
			if text := strings.Join(texts, "\n"); !strings.Contains(text, tc.warn) || (text == "") != (tc.warn == "") {
				t.Errorf("warnings %q, want %q", warnings, tc.warn)
			}
		})
	}
}

func TestDecodeValueRefuses(t *testing.T) {
	small := limits{tokens: 100, depth: 5, values: 20}
	tests := map[string]struct {
		yaml string
		want string
	}{
		"a syntax error":          {"a: [", "line 1"},
		"not a number in JSON":    {"a: .inf", "line 1: \".inf\" is not a number that JSON knows"},
		"a key that is a list":    {"? [a]\n: 1", "a mapping key has to be text"},
		"a key that is null":      {"~: 1", "a mapping key has to be text"},
		"bad binary":              {"a: !!binary '?'", "line 1: read binary value"},
		"a merge of no mapping":   {"a: {<<: 1}", "merge"},
		"too deep":                {"[[[[[[1]]]]]]", "nested more than 5 deep"},
		"too deep through alias":  {"a: &a [[1]]\nb: [[[*a]]]", "nested more than 5 deep"},
		"too many values":         {"[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "more than 20 values"},
		"aliases of aliases":      {"a: &a [1,1,1]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]", "more than 20 values"},
		"merges of merges":        {"a: &a {p: 1, q: 1, r: 1}\nb: {<<: [*a, *a, *a, *a, *a]}", "more than 20 values"},
		"an anchor within itself": {"a: &a [*a]", "anchor \"a\" contains itself"},
		"too many tokens":         {strings.Repeat("\n", 101), "more than 100 YAML separators"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := decodeValue(file{data: []byte(tc.yaml)}, small)
			must.Fail(t, "decoding", err, tc.want)
		})
	}
}

// TestDecodeRealManifests compares with the reading that Kubernetes clients have, for one bundle of each package.
func TestDecodeRealManifests(t *testing.T) {
	seen := map[string]bool{}
	bundles := publicdata.BundleTrees(t)
	for _, name := range slices.Sorted(maps.Keys(bundles)) {
		pkg := path.Dir(name)
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		for path, content := range bundles[name] {
			if !strings.HasPrefix(path, defaultManifestsDir) {
				continue
			}
			got, _, err := decodeValue(file{name: path, data: content.Data}, defaultLimits)
			if err != nil {
				t.Errorf("%s/%s: %v", name, path, err)
				continue
			}
			if err := sameAsKubernetes(content.Data, got); err != nil {
				t.Errorf("%s/%s: %v", name, path, err)
			}
		}
	}
}

// sameAsKubernetes compares a value with what Kubernetes clients make of the same text.
func sameAsKubernetes(data []byte, got any) error {
	text, err := kyaml.YAMLToJSON(data)
	if err != nil {
		return fmt.Errorf("the reference cannot read it: %w", err)
	}
	var want any
	if err := kjson.Unmarshal(text, &want); err != nil {
		return fmt.Errorf("the reference wrote %s: %w", text, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("(-reference +got):\n%s", diff)
	}
	return nil
}
