package installplan

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// warningReason is that of Events about warnings of the API server.
const warningReason = "AppliedWithWarnings"

// eventSource is the component that Events come from.
const eventSource = "operator-lifecycle-manager"

// warn makes Events of warnings, by step, and counts them.
func (c *Controller) warn(plan *v1alpha1.InstallPlan, warnings map[int][]string) {
	for _, i := range sortedKeys(warnings) {
		step, texts := plan.Status.Plan[i], warnings[i]
		about := &corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.InstallPlanKind,
			Namespace: plan.Namespace, Name: plan.Name, UID: plan.UID, ResourceVersion: plan.ResourceVersion,
			FieldPath: fmt.Sprintf("status.plan[%d]", i),
		}
		c.events.Event(about, corev1.EventTypeWarning, warningReason, warningText(step, texts))
		c.Metrics.Warned()
	}
}

func warningText(step *v1alpha1.Step, texts []string) string {
	what := fmt.Sprintf("(%s %q)", step.Resource.Kind, step.Resource.Name)
	if step.Resolving != "" {
		what = fmt.Sprintf("of operator %q %s", step.Resolving, what)
	}
	return fmt.Sprintf("%d warning(s) generated during installation %s: %s", len(texts), what, strings.Join(texts, ", "))
}

func sortedKeys(m map[int][]string) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
