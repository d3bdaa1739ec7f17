package crd

import (
	"context"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// recordOf are the managed fields of an object: versions, each with the second of its write; below zero is a write without a time.
func recordOf(writes ...any) []metav1.ManagedFieldsEntry {
	var all []metav1.ManagedFieldsEntry
	for i := 0; i < len(writes); i += 2 {
		entry := metav1.ManagedFieldsEntry{APIVersion: writes[i].(string)}
		if second := writes[i+1].(int); second >= 0 {
			entry.Time = &metav1.Time{Time: time.Unix(int64(second), 0)}
		}
		all = append(all, entry)
	}
	return all
}

func TestLastWriter(t *testing.T) {
	tests := map[string]struct {
		writes []metav1.ManagedFieldsEntry
		want   string
	}{
		"no record":                          {nil, ""},
		"in the version that goes":           {recordOf("example.com/v1", 1), "v1"},
		"in another one":                     {recordOf("example.com/v2", 1), ""},
		"in another one since":               {recordOf("example.com/v1", 1, "example.com/v2", 2), ""},
		"in another one since, listed first": {recordOf("example.com/v2", 2, "example.com/v1", 1), ""},
		"in another one before":              {recordOf("example.com/v2", 1, "example.com/v1", 2), "v1"},
		"in both in one second":              {recordOf("example.com/v1", 1, "example.com/v2", 1), "v1"},
		"in both, the other way round":       {recordOf("example.com/v2", 1, "example.com/v1", 1), "v1"},
		"without a time":                     {recordOf("example.com/v1", -1), "v1"},
		"without a time, and since":          {recordOf("example.com/v2", 1, "example.com/v1", -1), ""},
		"in that version of another group":   {recordOf("other.com/v1", 1), ""},
	}
	for name, tc := range tests {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetManagedFields(tc.writes)
		must.Equal(t, name, lastWrittenIn(object, "example.com", []string{"v1"}), tc.want)
		must.Equal(t, name, lastWrittenIn(object, "example.com", nil), "")
	}
}

// written is a reader of objects with records.
type written struct {
	client.Reader
	objects map[string][]metav1.ManagedFieldsEntry
	lists   int
}

func (w *written) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	w.lists++
	for _, name := range []string{"a", "b"} {
		object := unstructured.Unstructured{Object: map[string]any{}}
		object.SetName(name)
		object.SetManagedFields(w.objects[name])
		list.(*unstructured.UnstructuredList).Items = append(list.(*unstructured.UnstructuredList).Items, object)
	}
	return nil
}

func (w *written) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	o.SetManagedFields(w.objects[key.Name])
	return nil
}

// TestObjectsOfADroppedVersion counts objects by their last writer, once, whether or not a webhook converts them, and sees when they were written again.
func TestObjectsOfADroppedVersion(t *testing.T) {
	for name, conversion := range map[string]apiextensionsv1.ConversionStrategyType{"without conversion": apiextensionsv1.NoneConverter, "with a webhook before and after": apiextensionsv1.WebhookConverter} {
		t.Run(name, func(t *testing.T) {
			live, desired := &definition{}, &definition{}
			const text = `{metadata: {name: widgets.example.com}, spec: {group: example.com, names: {kind: Widget}, conversion: {strategy: None}, versions: [
{name: v1, served: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}, status: {storedVersions: [v2]}}`
			for _, crd := range []*definition{live, desired} {
				must.NoError(t, yaml.Unmarshal([]byte(text), crd))
				crd.Spec.Conversion.Strategy = conversion
			}
			desired.Spec.Versions = desired.Spec.Versions[1:]
			verdict := planRules(Change{Live: live, Desired: desired})
			reader := &written{objects: map[string][]metav1.ManagedFieldsEntry{"a": recordOf("example.com/v2", 1, "example.com/v1", 2), "b": recordOf("example.com/v1", 1, "example.com/v2", 2)}}
			c := must.Value(NewScan(reader, live, desired, verdict.Changed, verdict.Dropped))(t)
			for !c.Done() {
				must.NoError(t, c.Advance(t.Context(), 1))
			}
			if c.Objects != 2 || c.Written != 1 || len(c.Writes) != 1 || c.Writes[0].String() != "a: v1" || reader.lists != 1 {
				t.Errorf("%+v after %d lists", c.Tally, reader.lists)
			}
			if still, err := c.stillBlocks(t.Context(), false); !still || err != nil {
				t.Errorf("still written %t, %v", still, err)
			}
			reader.objects["a"] = recordOf("example.com/v1", 2, "example.com/v2", 3)
			if still, err := c.stillBlocks(t.Context(), false); still || err != nil {
				t.Errorf("still written %t though it was written in v2, %v", still, err)
			}
		})
	}
}
