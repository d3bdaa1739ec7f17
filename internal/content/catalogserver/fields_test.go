package catalogserver

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzSplit takes objects apart as encoding/json does.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":{"b":[1,"}",{"c":"\\\""}]},"b":[],"c":"x,y"}`, `{"a" : 1 , "b" : null }`, `{"\u0061":1,"a":2}`,
		``, `[]`, `null`, `{`, `{"a"}`, `{"a":}`, `{"a":1`, `{"a":"\"}`, `{"a":1}}`, `{"a":1} `, `{,}`, `{"a":1,}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := split(text)
		var want map[string]json.RawMessage
		if json.Unmarshal(text, &want) != nil {
			return // what is no JSON only has to be survived
		}
		if want == nil {
			if err == nil {
				t.Fatalf("%q was taken for an object", text)
			}
			return
		}
		for key, value := range want {
			want[key] = bytes.TrimSpace(value)
		}
		if diff := cmp.Diff(fields(want), got); diff != "" || err != nil {
			t.Fatalf("%q, %v (-want +got):\n%s", text, err, diff)
		}
	})
}
