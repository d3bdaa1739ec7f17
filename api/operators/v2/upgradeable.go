package v2

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CheckUpgradeable is an error that says why the operator must not be upgraded now, and nil when it may be. An override
// decides alone; a report counts only when it is about the present generation. An operator without an OperatorCondition,
// which is what a nil object stands for, may be upgraded.
func (c *OperatorCondition) CheckUpgradeable() error {
	if c == nil {
		return nil
	}
	if override := meta.FindStatusCondition(c.Spec.Overrides, ConditionUpgradeable); override != nil {
		if override.Status == metav1.ConditionTrue {
			return nil
		}
		return fmt.Errorf("the operatorcondition %s/%s overrides %q=%q: %s", c.Namespace, c.Name, ConditionUpgradeable, override.Status, override.Message)
	}
	reported := meta.FindStatusCondition(c.Status.Conditions, ConditionUpgradeable)
	switch {
	case reported == nil:
		return nil
	case reported.ObservedGeneration != c.Generation:
		return fmt.Errorf("the operatorcondition status %q=%q is outdated", ConditionUpgradeable, reported.Status)
	case reported.Status == metav1.ConditionFalse:
		return fmt.Errorf("the operatorcondition %s/%s says %q=%q: %s", c.Namespace, c.Name, ConditionUpgradeable, reported.Status, reported.Message)
	default:
		return nil
	}
}
