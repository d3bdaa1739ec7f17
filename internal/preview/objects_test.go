package preview

import (
	"io"
	"strings"
	"testing"
)

func TestDecodeErrors(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"no YAML":          {"a: [", "read objects from file: document 1: "},
		"no object":        {"- a", "document 1: it is not a Kubernetes object: "},
		"no kind":          {"a: 1", "document 1: it is not a Kubernetes object: it has no kind"},
		"in a list":        {`{"kind": "List", "apiVersion": "v1", "items": [{"kind": "A"}, {}]}`, "document 1: item 2 of the list: it is not a Kubernetes object: it has no kind"},
		"of another shape": {"apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: a}\nspec: 5", "document 1: Subscription a: "},
	} {
		t.Run(name, func(t *testing.T) {
			var o Objects
			if err := o.Decode("file", strings.NewReader(test.content)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
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
	if err := o.Decode("file", endless{}); err == nil || !strings.Contains(err.Error(), "it has more than 67108864 bytes") {
		t.Errorf("got %v", err)
	}
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
