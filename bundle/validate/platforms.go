package validate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// platformSet is a set of "os/architecture".
type platformSet map[string]bool

// missing are those of s that are not in other, sorted.
func (s platformSet) missing(other platformSet) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s)), func(p string) bool { return other[p] })
}

// imageUse is an image of the bundle and where it is named.
type imageUse struct {
	image   string
	at      place
	manager bool
}

// checkPlatforms compares what images are offered for with what the labels of the ClusterServiceVersion promise.
func checkPlatforms(ctx context.Context, r recorder) {
	if r.csv == nil {
		return
	}
	if r.options.Platforms == nil {
		r.warn(RuleInspect, place{}, "images were not inspected: no access to registries was given", "check the bundle where registries can be reached")
		return
	}
	// Those that the labels name; without any it is linux on amd64.
	csv := r.csv
	named := func(prefix, standard string) []string {
		var out []string
		for key, value := range csv.Labels {
			if name, ok := strings.CutPrefix(key, prefix); ok && value == v1alpha1.SystemSupportedValue {
				out = append(out, name)
			}
		}
		if len(out) == 0 {
			return []string{standard}
		}
		return out
	}
	labels := platformSet{}
	for _, os := range named(v1alpha1.OSLabelPrefix, "linux") {
		for _, architecture := range named(v1alpha1.ArchLabelPrefix, "amd64") {
			labels[Platform{OS: os, Architecture: architecture}.String()] = true
		}
	}
	uses := imageUses(r)
	offered := inspect(ctx, r, uses)
	managers := platformSet{}
	for _, use := range uses {
		if use.manager {
			maps.Copy(managers, offered[use.image])
		}
	}
	for _, use := range uses {
		if have := offered[use.image]; len(have) > 0 {
			comparePlatforms(r, use, labels, have, managers)
		}
	}
	checkAffinity(r, managers)
}

func comparePlatforms(r recorder, use imageUse, labels, have, managers platformSet) {
	if lacks := labels.missing(have); len(lacks) > 0 {
		r.err(RulePlatform, use.at, fmt.Sprintf("%s is not offered for %s, which the labels of the ClusterServiceVersion promise", use.image, strings.Join(lacks, ", ")),
			"build the image for it, or remove the label")
	}
	if use.manager {
		if more := have.missing(labels); len(more) > 0 {
			r.warn(RulePlatform, use.at, fmt.Sprintf("%s is offered for %s without a label that says so", use.image, strings.Join(more, ", ")),
				"add the labels operatorframework.io/arch.<arch>: supported and operatorframework.io/os.<os>: supported")
		}
		return
	}
	unlabelled := slices.DeleteFunc(managers.missing(have), func(p string) bool { return labels[p] })
	if len(unlabelled) > 0 {
		r.warn(RulePlatform, use.at, fmt.Sprintf("%s is not offered for %s, which the manager supports", use.image, strings.Join(unlabelled, ", ")), "build the image for it")
	}
}

// imageUses are the images of containers and the related ones, each once.
func imageUses(r recorder) []imageUse {
	var uses []imageUse
	seen := map[string]bool{}
	add := func(image string, at place, manager bool) {
		if image != "" && !seen[image] {
			seen[image] = true
			uses = append(uses, imageUse{image, at, manager})
		}
	}
	deployments := r.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	// The containers that run the operator are those named manager, or else all but the usual proxy.
	named := slices.ContainsFunc(deployments, func(d v1alpha1.StrategyDeploymentSpec) bool {
		return slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "manager" })
	})
	for _, managers := range []bool{true, false} {
		for i, d := range deployments {
			for j, c := range d.Spec.Template.Spec.Containers {
				if isManager := c.Name == "manager" || !named && c.Name != "kube-rbac-proxy"; isManager == managers {
					add(c.Image, r.csvPlace().in("spec.install.spec.deployments[%d].spec.template.spec.containers[%d].image", i, j), managers)
				}
			}
		}
	}
	for i, related := range r.csv.Spec.RelatedImages {
		add(related.Image, r.csvPlace().in("spec.relatedImages[%d].image", i), false)
	}
	return uses
}

// inspect asks for the platforms of the images.
func inspect(ctx context.Context, r recorder, uses []imageUse) map[string]platformSet {
	offered := map[string]platformSet{}
	for _, use := range uses {
		platforms, err := r.options.Platforms.Platforms(ctx, use.image)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			r.warn(RuleInspect, use.at, fmt.Sprintf("unable to inspect the image: %v", err), "make sure that it exists and can be read")
			continue
		}
		set := platformSet{}
		for _, p := range platforms {
			if p.OS != "" && p.OS != "unknown" && p.Architecture != "" && p.Architecture != "unknown" {
				set[p.String()] = true
			}
		}
		offered[use.image] = set
	}
	return offered
}

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
