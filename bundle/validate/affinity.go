package validate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// checkAffinity compares the nodes that pods ask for with what the manager can run on.
func checkAffinity(r recorder, managers platformSet) {
	if len(managers) == 0 {
		return
	}
	for i, d := range r.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		at := r.csvPlace().in("spec.install.spec.deployments[%d].spec.template.spec.affinity", i)
		wanted := affinityPlatforms(d.Spec.Template.Spec.Affinity)
		if len(wanted) == 0 {
			r.warn(RuleAffinity, at, fmt.Sprintf("Deployment %s does not say on which architectures and systems it runs", d.Name),
				"require kubernetes.io/arch and kubernetes.io/os of nodes")
			continue
		}
		if more := wanted.missing(managers); len(more) > 0 {
			r.warn(RuleAffinity, at, fmt.Sprintf("Deployment %s asks for nodes of %s, and its image is not offered for them", d.Name, strings.Join(more, ", ")), "correct the affinity, or build the image for them")
		}
		if lacks := managers.missing(wanted); len(lacks) > 0 {
			r.warn(RuleAffinity, at, fmt.Sprintf("Deployment %s keeps away from nodes of %s, for which its image is offered", d.Name, strings.Join(lacks, ", ")), "add them to the affinity")
		}
	}
}

// affinityPlatforms are the platforms that a required node affinity names.
func affinityPlatforms(affinity *corev1.Affinity) platformSet {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	set := platformSet{}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		values := map[string][]string{}
		for _, expression := range term.MatchExpressions {
			if expression.Operator == corev1.NodeSelectorOpIn {
				values[expression.Key] = expression.Values
			}
		}
		for _, os := range values[corev1.LabelOSStable] {
			for _, architecture := range values[corev1.LabelArchStable] {
				set[Platform{OS: os, Architecture: architecture}.String()] = true
			}
		}
	}
	return set
}
