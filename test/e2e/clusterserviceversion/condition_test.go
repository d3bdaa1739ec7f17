package clusterserviceversion

import (
	"fmt"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// asOperator is a client with the rights of the operator's service account.
func (w *world) asOperator() client.Client {
	w.Helper()
	config := devcluster.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + w.Namespace + ":account"}
	return must.Value(client.New(config, client.Options{Scheme: w.Scheme()}))(w)
}

func (w *world) condition(name string) *v2.OperatorCondition {
	w.Helper()
	out := &v2.OperatorCondition{}
	must.Eventually(w, "the OperatorCondition of "+name, func() error {
		if !w.Read(name, out) {
			return fmt.Errorf("it is not there")
		}
		return nil
	})
	return out
}

// says writes what the operator itself says about upgrades, with its own rights.
func (w *world) says(name string, status metav1.ConditionStatus) {
	w.Helper()
	own := w.asOperator()
	must.Eventually(w, "the operator to say "+string(status), func() error {
		condition := &v2.OperatorCondition{}
		if err := own.Get(w.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, condition); err != nil {
			return err
		}
		condition.Spec.Conditions = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: status, Reason: "Migration", Message: "a migration is going on", LastTransitionTime: metav1.Now()}}
		return own.Update(w.Context(), condition)
	})
}

// TestUpgradesThatOperatorsHold: an operator says that it cannot be upgraded, with its own rights; the next version waits with the
// message, until the operator or an administrator says otherwise.
func TestUpgradesThatOperatorsHold(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]func(w *world){
		"the operator releases it": func(w *world) { w.says("op.v1", "True") },
		"an administrator overrides it": func(w *world) {
			edit(w, "op.v1", &v2.OperatorCondition{}, func(c *v2.OperatorCondition) {
				c.Spec.Overrides = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: "True", Reason: "Known", Message: "the data is backed up", LastTransitionTime: metav1.Now()}}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "an administrator overrides it" {
				sweep.Nightly(t, "TestUpgradeThatTheOperatorHolds of internal/controller/clusterserviceversion, and TestBothVersionsOfOperatorConditions")
			}
			w := newWorld(t)
			w.install(w.operator("op.v1"))
			w.Succeeds("op.v1")
			condition := w.condition("op.v1")
			must.Equal(t, "the OperatorCondition", fmt.Sprint(condition.Spec.ServiceAccounts, condition.Spec.Deployments), "[account] [manager]")
			if err := w.asOperator().Get(w.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "group"}, w.operatorGroup()); err == nil {
				t.Error("the operator may read OperatorGroups")
			}
			w.says("op.v1", "False")
			must.Eventually(w, "the report to be taken over", func() error {
				live := w.condition("op.v1")
				if c := meta.FindStatusCondition(live.Status.Conditions, v2.ConditionUpgradeable); c == nil || c.ObservedGeneration != live.Generation {
					return fmt.Errorf("status %v of generation %d", live.Status.Conditions, live.Generation)
				}
				return nil
			})

			w.install(w.operator("op.v2", fixture.Replacing("op.v1"), withImage("example.com/manager:2")))
			csv := w.Is("op.v2", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonOperatorConditionNotUpgradeable)
			must.Contain(t, "message", csv.Status.Message, "a migration is going on")
			w.stands("op.v1")
			w.runs("manager", "example.com/manager:1")
			release(w)
			w.Succeeds("op.v2")
			w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
			w.Goes("op.v1", &v2.OperatorCondition{})
			w.runs("manager", "example.com/manager:2")
			must.Eventually(w, "the pods to know their OperatorCondition", func() error {
				want := corev1.EnvVar{Name: "OPERATOR_CONDITION_NAME", Value: "op.v2"}
				if env := w.deployment("manager").Spec.Template.Spec.Containers[0].Env; len(env) != 1 || env[0] != want {
					return fmt.Errorf("env %v", env)
				}
				return nil
			})
		})
	}
}
