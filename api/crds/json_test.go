package crds_test

import (
	"encoding/json"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"fairlead.dev/fairlead/test/must"
)

// decode reads JSON as an API server does: whole numbers are int64.
func decode(t testing.TB, data []byte, into any) {
	t.Helper()
	if err := utiljson.Unmarshal(data, into); err != nil {
		t.Fatalf("decode: %v\n%s", err, data)
	}
}

// convert turns a value into another through JSON.
func convert(t testing.TB, from, to any) {
	t.Helper()
	data, err := json.Marshal(from)
	must.NoErrorf(t, err, "encode %T", from)
	decode(t, data, to)
}
