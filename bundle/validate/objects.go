package validate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/bundle"
)

// defaultSCCs are the SecurityContextConstraints that every OpenShift cluster has.
var defaultSCCs = []string{
	"privileged", "restricted", "anyuid", "hostaccess", "hostmount-anyuid", "hostnetwork", "node-exporter", "nonroot",
}

// checkObjects finds manifests that harm the cluster that they are installed on.
func checkObjects(r recorder) {
	for _, object := range r.Bundle.Objects {
		at := r.objectPlace(object)
		switch object.GetKind() {
		case "PodDisruptionBudget":
			checkBudget(r, at, object)
		case "PriorityClass":
			if global, _, err := unstructured.NestedBool(object.Object, "globalDefault"); err != nil || global {
				r.err(RulePriorityClass, at.in("globalDefault"), "the class would be that of every pod in the cluster that names none", "remove globalDefault")
			}
		case "Role", "ClusterRole":
			checkRole(r, at, object)
		}
	}
}

func checkBudget(r recorder, at place, object *unstructured.Unstructured) {
	var budget policyv1.PodDisruptionBudget
	if !decodeObject(r, RuleBudget, at, object, &budget) {
		return
	}
	if most := budget.Spec.MaxUnavailable; most != nil && (most.String() == "0" || most.String() == "0%") {
		r.err(RuleBudget, at.in("spec.maxUnavailable"), fmt.Sprintf("%s keeps nodes from being drained", most), "allow at least one pod to be unavailable")
	}
	if least := budget.Spec.MinAvailable; least != nil && least.String() == "100%" {
		r.err(RuleBudget, at.in("spec.minAvailable"), "100% keeps nodes from being drained", "allow at least one pod to be unavailable")
	}
	if policy := budget.Spec.UnhealthyPodEvictionPolicy; policy == nil || *policy != policyv1.AlwaysAllow {
		r.warn(RuleBudgetUnready, at.in("spec.unhealthyPodEvictionPolicy"), "pods that are not ready, such as those of an operator that crashes, keep nodes from being drained", "set it to AlwaysAllow")
	}
}

func checkRole(r recorder, at place, object *unstructured.Unstructured) {
	var role rbacv1.ClusterRole // the rules of both kinds have one form
	if !decodeObject(r, RuleRBACSCC, at, object, &role) {
		return
	}
	for i, rule := range role.Rules {
		field := at.in("rules[%d]", i)
		if covers(rule, "policy", "poddisruptionbudgets") && allows(rule, "create", "update", "patch") {
			r.warn(RuleRBACBudget, field, "it lets the operator write PodDisruptionBudgets, which can keep nodes from being drained", "make sure that they never do")
		}
		if covers(rule, "security.openshift.io", "securitycontextconstraints") && allows(rule, "delete", "update", "patch") &&
			slices.ContainsFunc(rule.ResourceNames, func(name string) bool { return slices.Contains(defaultSCCs, name) }) {
			r.err(RuleRBACSCC, field, "it lets the operator change the SecurityContextConstraints that OpenShift comes with", "bring constraints of your own")
		}
	}
}

// covers says whether a rule names a resource of a group.
func covers(rule rbacv1.PolicyRule, group, resource string) bool {
	return slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource)
}

// allows says whether a rule names one of the verbs, or all.
func allows(rule rbacv1.PolicyRule, verbs ...string) bool {
	return slices.Contains(rule.Verbs, rbacv1.VerbAll) ||
		slices.ContainsFunc(rule.Verbs, func(verb string) bool { return slices.Contains(verbs, strings.ToLower(verb)) })
}

// decodeObject reads a manifest as its kind, and reports if it cannot be.
func decodeObject(r recorder, rule bundle.Rule, at place, object *unstructured.Unstructured, out any) bool {
	text, err := json.Marshal(object.Object)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		r.err(rule, at, fmt.Sprintf("it does not have the form of its kind: %v", err), "correct the field")
	}
	return err == nil
}
