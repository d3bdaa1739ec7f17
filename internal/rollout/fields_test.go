package rollout

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/test/must"
)

// ownedLive is what a server makes of ownedWanted, and ownedFields what it records for the manager.
const (
	ownedWanted = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"},"finalizers":["x"],"annotations":{}},
		"spec":{"nodeName":"","selector":{"app":"op"},"args":["-v"],"containers":[
			{"name":"m","ports":[{"containerPort":80}],"limits":{"cpu":"1000m"},"env":[{"name":"A","value":"<1>"}],"empty":{}}]}}`
	ownedLive = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"},"finalizers":["x"]},
		"spec":{"selector":{"app":"op"},"args":["-v"],"containers":[
			{"name":"m","ports":[{"containerPort":80,"protocol":"TCP"}],"limits":{"cpu":"1"},"env":[{"name":"A","value":"<1>"}]}]}}`
	ownedFields = `{"f:metadata":{"f:labels":{"f:a":{}},"f:finalizers":{".":{},"v:\"x\"":{}}},
		"f:spec":{"f:selector":{},"f:args":{},"f:containers":{"k:{\"name\":\"m\"}":{".":{},"f:name":{},
			"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},
			"f:limits":{".":{},"f:cpu":{}},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}`
)

func TestAsWanted(t *testing.T) {
	tests := map[string]struct {
		wanted, live, ours, others []string // replacements of old by new
		want                       bool
	}{
		"all owned":                              {want: true},
		"others own other fields":                {others: []string{"{}", `{"f:status":{"f:phase":{}}}`}, want: true},
		"a field that was not wanted before":     {wanted: []string{`"args"`, `"tty":true,"args"`}},
		"a label lost":                           {ours: []string{`"f:labels":{"f:a":{}},`, ``}},
		"the only label taken by another":        {ours: []string{`{"f:a":{}}`, `{}`}, others: []string{"{}", `{"f:metadata":{"f:labels":{"f:a":{}}}}`}},
		"the only label removed by another":      {ours: []string{`{"f:a":{}}`, `{}`}, live: []string{`"labels":{"a":"b"},`, `"labels":{},`}},
		"a finalizer lost":                       {ours: []string{`"v:\"x\"":{}`, `"v:\"y\"":{}`}},
		"a quantity inside an item taken":        {ours: []string{`{".":{},"f:cpu":{}}`, `{}`}, others: []string{"{}", `{"f:spec":{"f:containers":{"k:{\"name\":\"m\"}":{"f:limits":{"f:cpu":{}}}}}}`}},
		"a container lost":                       {ours: []string{`\"m\"`, `\"n\"`}},
		"an environment value lost":              {ours: []string{`,"f:value":{}`, ``}},
		"a port by other protocol is another":    {wanted: []string{`"containerPort":80`, `"containerPort":80,"protocol":"UDP"`}},
		"a list that is one value was shortened": {live: []string{`"args":["-v"],`, `"args":[],`}},
		"nothing is recorded":                    {ours: []string{ownedFields, `{}`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wanted := parse(t, strings.NewReplacer(tc.wanted...).Replace(ownedWanted))
			live := parse(t, strings.NewReplacer(tc.live...).Replace(ownedLive))
			live.SetManagedFields([]metav1.ManagedFieldsEntry{
				entry(manager, strings.NewReplacer(tc.ours...).Replace(ownedFields)),
				entry("another", strings.NewReplacer(tc.others...).Replace("{}")),
			})
			must.Equal(t, "asWanted", asWanted(wanted, live, manager), tc.want)
		})
	}
}

func TestAsWantedComparesTheDigest(t *testing.T) {
	wanted, live := parse(t, ownedWanted), parse(t, ownedLive)
	live.SetManagedFields([]metav1.ManagedFieldsEntry{entry(manager, ownedFields)})
	live.SetAnnotations(map[string]string{ContentAnnotation: "of something else"})
	if asWanted(wanted, live, manager) {
		t.Error("an object that was written with other content counts as wanted")
	}
}

func entry(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	must.NoError(t, json.Unmarshal([]byte(text), &u.Object))
	return u
}

// FuzzAsWanted feeds managed fields as another server, or no one, would write them.
func FuzzAsWanted(f *testing.F) {
	f.Add(ownedFields, ownedLive)
	f.Add(`{"f:spec":{"k:{":{},"v:":{},"f:containers":[1]}}`, `{"kind":"Pod","spec":[]}`)
	f.Fuzz(func(t *testing.T, fields, content string) {
		live := &unstructured.Unstructured{}
		if json.Unmarshal([]byte(content), &live.Object) != nil || live.Object == nil || !json.Valid([]byte(fields)) {
			t.Skip("not an object with fields")
		}
		if _, ok := live.Object["metadata"].(map[string]any); !ok {
			live.Object["metadata"] = map[string]any{}
		}
		live.SetAnnotations(nil)
		live.SetManagedFields([]metav1.ManagedFieldsEntry{entry(manager, fields)})
		wanted := parse(t, ownedWanted)
		if asWanted(wanted, live, manager) && !asWanted(wanted, live, manager) {
			t.Error("two answers")
		}
		live.SetManagedFields(nil)
		if asWanted(wanted, live, manager) {
			t.Error("nobody's fields count as ours")
		}
	})
}
