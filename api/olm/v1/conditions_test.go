package v1

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

func TestSetCondition(t *testing.T) {
	var conditions []metav1.Condition
	for i, step := range []struct {
		condition  metav1.Condition
		generation int64
		changed    bool
		transition int64
	}{
		{NewCondition(TypeInstalled, metav1.ConditionFalse, ReasonFailed, "a"), 1, true, 0},
		{NewCondition(TypeInstalled, metav1.ConditionFalse, ReasonFailed, "a"), 1, false, 0},
		{NewCondition(TypeInstalled, metav1.ConditionFalse, ReasonFailed, "b"), 1, true, 0},
		{NewCondition(TypeInstalled, metav1.ConditionFalse, ReasonFailed, "b"), 2, true, 0},
		{NewCondition(TypeInstalled, metav1.ConditionTrue, ReasonSucceeded, "b"), 2, true, 4},
		{NewCondition(TypeProgressing, metav1.ConditionTrue, ReasonSucceeded, ""), 2, true, 5},
	} {
		now := metav1.NewTime(time.Unix(int64(i), 0))
		must.Equal(t, fmt.Sprintf("step %d: changed", i), SetCondition(&conditions, step.condition, step.generation, now), step.changed)
		at := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == step.condition.Type })
		got := conditions[at]
		if got.Status != step.condition.Status || got.Message != step.condition.Message || got.ObservedGeneration != step.generation {
			t.Errorf("step %d: got %+v", i, got)
		}
		must.Equal(t, "got.LastTransitionTime.Unix()", got.LastTransitionTime.Unix(), step.transition)
	}
	must.Equal(t, "conditions", len(conditions), 2)
}

func TestTruncateMessage(t *testing.T) {
	const limit = 32768
	for name, tc := range map[string]struct {
		message string
		cut     bool
	}{
		"short":            {"short", false},
		"at the limit":     {strings.Repeat("a", limit), false},
		"over the limit":   {strings.Repeat("a", limit+1), true},
		"wide characters":  {strings.Repeat("€", limit), true},
		"wide, one behind": {"a" + strings.Repeat("€", limit), true},
		"wide, two behind": {"aa" + strings.Repeat("€", limit), true},
	} {
		t.Run(name, func(t *testing.T) {
			got := TruncateMessage(tc.message)
			if len(got) > limit || !utf8.ValidString(got) {
				t.Errorf("has %d bytes and is valid: %t", len(got), utf8.ValidString(got))
			}
			if cut := got != tc.message; cut != tc.cut || cut && !strings.HasSuffix(got, "... [message truncated]") {
				t.Errorf("was cut: %t, want %t; ends with %q", cut, tc.cut, got[max(0, len(got)-30):])
			}
		})
	}
}

// otherTypes and otherReasons are those of the other kinds.
var (
	otherTypes   = []string{TypeAvailable, TypeSucceeded, TypeServing, TypeSupported}
	otherReasons = []string{
		ReasonAvailable, ReasonUnavailable, ReasonUserSpecifiedUnavailable,
		ReasonArchived, ReasonReconciling, ReasonMigrated, ReasonProbesSucceeded, ReasonProbeFailure,
	}
)

// TestClusterExtensionListsAreComplete compares the lists with the constants of the source, so that a new constant is
// either listed or said to be for another kind.
func TestClusterExtensionListsAreComplete(t *testing.T) {
	for prefix, lists := range map[string][][]string{
		"Type":   {ClusterExtensionConditionTypes(), otherTypes},
		"Reason": {ClusterExtensionReasons(), otherReasons},
	} {
		// The values of a file's constants with a prefix.
		parsed := must.Value(parser.ParseFile(token.NewFileSet(), "conditions.go", nil, 0))(t)
		var want []string
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			value := must.Value(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
			want = append(want, value)
			return true
		})
		got := slices.Concat(lists...)
		slices.Sort(want)
		slices.Sort(got)
		must.Equal(t, fmt.Sprintf("constants with the prefix %s and lists differ", prefix), got, want)
	}
}
