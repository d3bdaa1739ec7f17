package preview

import (
	"io"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

const (
	subscription = "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\n"
	installPlan  = "apiVersion: operators.coreos.com/v1alpha1\nkind: InstallPlan\nmetadata: {name: a}\n"
)

// TestDecodeKinds: kinds that others have called alike are not looked at, and no list of a kind of ours is passed over.
func TestDecodeKinds(t *testing.T) {
	var o Objects
	err := o.Decode("file", strings.NewReader(`
{"apiVersion": "messaging.knative.dev/v1", "kind": "Subscription", "metadata": {"name": "theirs"}}
---
{"apiVersion": "example.com/v1", "kind": "AllowList", "metadata": {"name": "a"}}
---
{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "SubscriptionList", "items": [{"metadata": {"name": "ours"}}]}
---
{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalogList", "items": []}
---
{"apiVersion": "operators.coreos.com/v1alpha2", "kind": "OperatorGroup", "metadata": {"name": "old"}}`))
	if err != nil || len(o.Subscriptions) != 1 || o.Subscriptions[0].Name != "ours" || len(o.Groups) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	must.Equal(t, "result", o.Ignored, []string{"Subscription theirs", "AllowList a"})
}

func TestDecodeErrors(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"nothing":           {"# a comment", "read objects from file: it holds no object; give what kubectl get -o yaml prints"},
		"no YAML":           {"a: [", "read objects from file: document 1: it is not YAML: line 1: "},
		"no object":         {"- a", "document 1: it is not a Kubernetes object: it is a list, and should be an object; give"},
		"no kind":           {"a: 1", "document 1: it is not a Kubernetes object: it has no kind; give"},
		"of a catalog":      {"schema: olm.package", "it is part of a catalog: name the directory that it is in with --catalog NAME=DIR"},
		"in a list":         {`{"kind": "List", "apiVersion": "v1", "items": [{"kind": "A"}, {}]}`, "document 1: item 2 of the list: it is not a Kubernetes object: it has no kind"},
		"a list in a list":  {`{"kind": "List", "items": [{"kind": "List"}]}`, "item 1 of the list: it is a list in a list"},
		"no object in it":   {`{"kind": "List", "items": [5]}`, "item 1 of the list: it is not a Kubernetes object: it is a number, and should be an object"},
		"no name":           {subscription + "spec: {name: a}", "document 1: Subscription without a name: it has no metadata.name; give it one"},
		"a name of no text": {subscription + "metadata: {name: 5}", "document 1: it is not a Kubernetes object: field metadata.name is a number, and should be a text"},
		"another version":   {"apiVersion: operators.coreos.com/v1\nkind: Subscription", `Subscription: apiVersion "operators.coreos.com/v1" is not known of this kind; write operators.coreos.com/v1alpha1`},
		"no version":        {"kind: OperatorGroup", "write operators.coreos.com/v1 or operators.coreos.com/v1alpha2"},
		"no object inside":  {subscription + "metadata: {name: a}\nspec: 5", "document 1: Subscription a: field spec is a number, and should be an object; correct it"},
		"no text inside":    {subscription + "metadata: {name: a}\nspec: {name: a, channel: [b]}", "Subscription a: field spec.channel is a list, and should be a text"},
		"no list inside":    {"apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: a}\nspec: {source: {catalog: {channels: b}}}", "ClusterExtension a: field spec.source.catalog.channels is a text, and should be a list"},
		"no number inside":  {"apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: a}\nspec: {priority: 5000000000}", "field spec.priority is number 5000000000, and should be a whole number of 32 bits"},
		"no truth inside":   {installPlan + "spec: {approved: 'yes'}", "InstallPlan a: field spec.approved is a text, and should be true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			var o Objects
			must.Fail(t, "decode", o.Decode("file", strings.NewReader(test.content)), test.want)
		})
	}
}

// endless is a file that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	p[len(p)-1] = '\n'
	return len(p), nil
}

func TestDecodeLimit(t *testing.T) {
	var o Objects
	must.Fail(t, "decode", o.Decode("file", endless{}), "it has more than 67108864 bytes")
}

// FuzzDecode: every object is either read or named as ignored, and a view of them can be had or is refused with a reason.
func FuzzDecode(f *testing.F) {
	f.Add("apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: a, namespace: b}\nspec: {name: a}\n---\nkind: A")
	f.Add(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"a"},"spec":{"version":"1.0.0"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var o Objects
		if err := o.Decode("file", io.LimitReader(strings.NewReader(text), 1<<16)); err != nil {
			return
		}
		name, err := o.namespace()
		if (name == "") != (err != nil) {
			t.Fatalf("namespace %q, %v", name, err)
		}
		n, err := o.view(name)
		if err != nil {
			return
		}
		if len(n.Subscriptions) > len(o.Subscriptions) || len(n.Operators) > len(o.Operators) {
			t.Errorf("more is in view than there is")
		}
	})
}
