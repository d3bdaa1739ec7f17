package clusterextension

import (
	"errors"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestHeldUp: metrics say in few words what is in the way of an upgrade, and nothing where none is.
func TestHeldUp(t *testing.T) {
	about := func(problem error) *outcome { return &outcome{problem: fmt.Errorf("in words: %w", problem)} }
	for name, test := range map[string]struct {
		reason string // of Progressing
		o      *outcome
		want   string
	}{
		"nothing":                          {olmv1.ReasonSucceeded, &outcome{}, ""},
		"it rolls out":                     {olmv1.ReasonRollingOut, &outcome{}, ""},
		"it goes":                          {olmv1.ReasonRollingOut, &outcome{leaving: true, problem: errGone}, ""},
		"nothing leads there":              {olmv1.ReasonRetrying, &outcome{conflict: &resolution.Conflict{}}, "Unresolvable"},
		"a definition":                     {olmv1.ReasonRetrying, about(errors.Join(&crd.UnsafeError{})), "CustomResourceDefinitions"},
		"the account":                      {olmv1.ReasonRetrying, about(&permissions.Lacking{}), "Permissions"},
		"more permissions":                 {olmv1.ReasonBlocked, about(revision.Blocked(&revision.IncreaseError{})), "MorePermissions"},
		"the operator":                     {olmv1.ReasonRetrying, about(&revision.NotUpgradeable{}), "NotUpgradeable"},
		"the configuration":                {olmv1.ReasonInvalidConfiguration, about(revision.Misconfigured(errGone)), "InvalidConfiguration"},
		"a bundle that is none":            {olmv1.ReasonBlocked, about(revision.Blocked(errGone)), "Blocked"},
		"a registry":                       {olmv1.ReasonRetrying, about(errGone), "Retrying"},
		"a roll-out that has stopped":      {olmv1.ReasonProgressDeadlineExceeded, &outcome{}, "ProgressDeadlineExceeded"},
		"a roll-out that is begun in vain": {olmv1.ReasonCrashLoopBackOff, &outcome{}, "CrashLoopBackOff"},
	} {
		ext := want("my", "a", "")
		ext.UID = types.UID("uid")
		olmv1.SetCondition(&ext.Status.Conditions, olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionTrue, test.reason, ""), 1, metav1.Unix(1, 0))
		must.Equal(t, name+": nothing is installed, and", heldUp(ext, test.o), "")
		ext.Status.Install = &olmv1.ClusterExtensionInstallStatus{}
		must.Equal(t, name, heldUp(ext, test.o), test.want)
	}
}
