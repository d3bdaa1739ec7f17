package v2

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func upgradeable(status metav1.ConditionStatus, generation int64) []metav1.Condition {
	return []metav1.Condition{
		{Type: "Other", Status: metav1.ConditionFalse},
		{Type: ConditionUpgradeable, Status: status, ObservedGeneration: generation, Message: "because"},
	}
}

func TestCheckUpgradeable(t *testing.T) {
	for name, tc := range map[string]struct {
		overrides, reported []metav1.Condition
		want                string // part of the error; empty when the operator may be upgraded
	}{
		"nothing said":                     {nil, nil, ""},
		"says something else":              {nil, upgradeable("True", 2)[:1], ""},
		"reports true":                     {nil, upgradeable("True", 2), ""},
		"reports unknown":                  {nil, upgradeable("Unknown", 2), ""},
		"reports false":                    {nil, upgradeable("False", 2), "because"},
		"reported true before the change":  {nil, upgradeable("True", 1), `the operatorcondition status "Upgradeable"="True" is outdated`},
		"reported of a generation to come": {nil, upgradeable("True", 3), `the operatorcondition status "Upgradeable"="True" is outdated`},
		"overridden to true":               {upgradeable("True", 0), upgradeable("False", 2), ""},
		"overridden to false":              {upgradeable("False", 0), upgradeable("True", 2), "overrides"},
		"overridden to unknown":            {upgradeable("Unknown", 0), nil, "overrides"},
		"override ends an old report":      {upgradeable("True", 0), upgradeable("False", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", Generation: 2}}
			c.Spec.Overrides, c.Status.Conditions = tc.overrides, tc.reported
			err := c.CheckUpgradeable()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
	if err := (*OperatorCondition)(nil).CheckUpgradeable(); err != nil {
		t.Errorf("without an object: %v", err)
	}
}
