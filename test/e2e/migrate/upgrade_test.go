package migrate

import (
	"fmt"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUpgradeAfterwards: F6 what was taken over is upgraded like any other: the next revision has the pods of the bundle, without what the v0
// API gave them, its own OperatorCondition is heeded from the first day on, and there is no way back from there.
func TestUpgradeAfterwards(t *testing.T) {
	w := newWorld(t, []string{}, nil)
	before := w.workload()
	w.says(0, nil, "migrate", "greeter", "--name", w.name, "--catalog", w.name, "--yes")
	w.extended("greeter-operator.v1.1.0")
	w.untouched(before)

	// The pods tell the OperatorCondition that they know that they cannot be upgraded.
	harness.Edit(t, w.Client, w.name, "greeter-operator.v1.1.0", &v2.OperatorCondition{}, func(c *v2.OperatorCondition) {
		c.Spec.Conditions = append(c.Spec.Conditions, upgradeable(false, c.Generation))
	})
	w.publish("1.0.0", "1.1.0", "1.2.0")
	harness.Edit(t, w.Client, "", w.name, &olmv1.ClusterCatalog{}, func(c *olmv1.ClusterCatalog) { c.Spec.Source.Image.Ref = w.image })
	w.says(0, nil, "upgrade", w.name, "--version", "", "--wait", "0")
	// Wait until the ClusterExtension says something of its progress.
	must.Eventually(w, "the ClusterExtension says "+"not upgradeable", func() error {
		e := &olmv1.ClusterExtension{}
		if err := w.Get(w.Context(), client.ObjectKey{Name: w.name}, e); err != nil {
			return err
		}
		if s := ops.Stand(e); !strings.Contains(s.Message, "not upgradeable") {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	w.untouched(before)
	harness.Edit(t, w.Client, w.name, "greeter-operator.v1.1.0", &v2.OperatorCondition{}, func(c *v2.OperatorCondition) {
		c.Spec.Conditions = nil
		c.Spec.Overrides = append(c.Spec.Overrides, upgradeable(true, 0))
	})
	w.extended("greeter-operator.v1.2.0")

	d := w.deployment()
	must.Equal(t, "the pods still have annotation olm.operatorGroup", d.Spec.Template.Annotations["olm.operatorGroup"], "")
	must.Equal(t, "the pods know the OperatorCondition", env(d.Spec.Template.Spec.Containers[0].Env, "OPERATOR_CONDITION_NAME"), w.name)
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: w.name, Name: w.name}, &v2.OperatorCondition{}))
	w.says(3, []string{"has had another revision since"}, "migrate", "--undo", w.name, "--yes")
}

func env(all []corev1.EnvVar, name string) string {
	for _, v := range all {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}
