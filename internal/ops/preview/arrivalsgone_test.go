package preview

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestFieldsThatGoWithAnUpgrade: what InstallPlans have written and the next version has no more is removed, but for what they add themselves.
func TestFieldsThatGoWithAnUpgrade(t *testing.T) {
	const fields = `{"f:data":{".":{},"f:a":{},"f:b":{}},"f:metadata":{"f:labels":{".":{},"f:olm.managed":{},"f:operators.coreos.com/greeter.ops":{},"f:old":{}}}}`
	for name, test := range map[string]struct {
		wanted    string
		unchanged int
	}{
		"fewer":    {`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "x"}}`, 1},
		"the same": {`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "labels": {"old": "label"}}, "data": {"a": "x", "b": "gone"}}`, 2},
	} {
		live := parsedObject(t, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "ops", "name": "settings",
			"labels": {"olm.managed": "true", "operators.coreos.com/greeter.ops": "", "old": "label"}}, "data": {"a": "x", "b": "gone"}}`)
		p := planner(t, append(subscribed(t, "greeter-operator", "1.0.0"), client.Object(live))...)
		p.Values = true
		p.Client = interceptor.NewClient(p.Client.(client.WithWatch), interceptor.Funcs{ // which keeps no managed fields itself
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
				err := c.Get(ctx, key, o, options...)
				if o.GetName() == "settings" {
					o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: claims.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate,
						FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}})
				}
				return err
			}})
		plan, text := ahead(t, p, func(b *bundle.Bundle) { b.Objects = append(b.Objects, parsedObject(t, test.wanted)) })
		must.Equal(t, name+"\n"+text, plan.Totals.Unchanged, test.unchanged)
		if name == "fewer" {
			must.Contain(t, name, text, "    ConfigMap ops/settings\n      .data.b: gone -> (none)\n      .metadata.labels.old: label -> (none)\n")
			must.Lack(t, name, text, "olm.managed", "operators.coreos.com/greeter.ops")
		}
	}
}
