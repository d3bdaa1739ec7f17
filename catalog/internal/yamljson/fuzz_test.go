package yamljson

import (
	"encoding/json"
	"testing"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/test/must"
	"github.com/google/go-cmp/cmp"
)

var testLimits = Limits{Bytes: 1 << 20, Depth: 50, Aliases: 100}

// FuzzAppend holds the two ways of conversion against each other: what the
// single pass accepts, the complete parser accepts with the same result.
func FuzzAppend(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.yaml))
	}
	for text := range refused {
		if len(text) < 1<<10 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if len(document) > 1<<16 {
			t.Skip("larger documents only cost time")
		}
		parsed, err := appendParsed(nil, document, testLimits)
		if err == nil {
			if err := rawjson.Check(parsed, testLimits.Depth); err != nil {
				t.Fatalf("the result is not JSON: %v\n%s", err, parsed)
			}
			if len(parsed) > 2*testLimits.Bytes {
				t.Fatalf("the result has %d bytes", len(parsed))
			}
		}
		passed, ok := appendBlocks(nil, document, testLimits.Depth)
		if !ok {
			return
		}
		must.NoErrorf(t, err, "the single pass read %s, but", passed)
		if diff := cmp.Diff(string(parsed), string(passed)); diff != "" {
			t.Fatalf("the single pass read something else (-parser +pass):\n%s", diff)
		}
		if !json.Valid(passed) {
			t.Fatalf("the single pass wrote %s", passed)
		}
	})
}
