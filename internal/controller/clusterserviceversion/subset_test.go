package clusterserviceversion

import (
	"encoding/json"
	"testing"
)

func TestIncludes(t *testing.T) {
	tests := map[string]struct {
		have, want string
		includes   bool
	}{
		"the same":                      {`{"a":1}`, `{"a":1}`, true},
		"another value":                 {`{"a":1}`, `{"a":2}`, false},
		"a default besides":             {`{"a":1,"b":2}`, `{"a":1}`, true},
		"a field is missing":            {`{}`, `{"a":1}`, false},
		"an empty map may be left out":  {`{}`, `{"a":{"b":{}}}`, true},
		"an empty list may be left out": {`{}`, `{"a":[]}`, true},
		"a null is not looked at":       {`{"a":1}`, `{"a":null}`, true},
		"a map in the place of a value": {`{"a":{}}`, `{"a":1}`, false},
		"a value in the place of a map": {`{"a":1}`, `{"a":{}}`, false},
		"a list in the place of a map":  {`{"a":[]}`, `{"a":{"b":1}}`, false},
		"a map in the place of a list":  {`{"a":{}}`, `{"a":[1]}`, false},
		"lists in order":                {`[1,2]`, `[1,2]`, true},
		"lists out of order":            {`[2,1]`, `[1,2]`, false},
		"a longer list":                 {`[1,2]`, `[1]`, false},
		"an emptied list":               {`{"a":[1]}`, `{"a":[]}`, false},
		"named items besides":           {`[{"name":"x"},{"name":"a","v":1}]`, `[{"name":"a"}]`, true},
		"a named item changed":          {`[{"name":"a","v":1}]`, `[{"name":"a","v":2}]`, false},
		"a named item gone":             {`[{"name":"x"}]`, `[{"name":"a"}]`, false},
		"named items of mixed kinds":    {`[{"name":"a"},1]`, `[{"name":"a"}]`, true},
		"a mount in another place":      {`[{"name":"v","mountPath":"/b"}]`, `[{"name":"v","mountPath":"/a"}]`, false},
		"two mounts of a volume":        {`[{"name":"v","mountPath":"/b"},{"name":"v","mountPath":"/a"}]`, `[{"name":"v","mountPath":"/a"},{"name":"v","mountPath":"/b"}]`, true},
		"items without a name":          {`[{"port":1,"protocol":"TCP"}]`, `[{"port":1}]`, true},
		"some items without a name":     {`[{"name":"a"},{"v":1}]`, `[{"v":1},{"name":"a"}]`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var have, want any
			if err := json.Unmarshal([]byte(tc.have), &have); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if got := includes(have, want); got != tc.includes {
				t.Errorf("includes = %v", got)
			}
		})
	}
}

// FuzzIncludes: everything includes itself, and itself with additions.
func FuzzIncludes(f *testing.F) {
	f.Add(`{"a":[{"name":"x","v":[1,2,{"b":null}]}]}`)
	f.Add(`[{"name":"a"},{"name":"a","x":1}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			t.Skip("not JSON")
		}
		if !includes(value, value) {
			t.Errorf("%s does not include itself", text)
		}
		if m, ok := value.(map[string]any); ok {
			more := map[string]any{"\x00added": 1}
			for k, v := range m {
				more[k] = v
			}
			if !includes(more, value) {
				t.Errorf("%s with an addition does not include it", text)
			}
		}
	})
}
