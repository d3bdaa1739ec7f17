package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/version"
)

// checkGoodPractices checks what makes an operator a good guest of a cluster.
func checkGoodPractices(r recorder) {
	if r.csv == nil {
		return
	}
	at := r.csvPlace()
	deployments := r.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	if len(deployments) == 0 {
		r.err(RuleDeployments, at.in("spec.install.spec.deployments"), "unable to find a deployment to install in the CSV", "add the Deployment of the operator")
	}
	for i, d := range deployments {
		for j, c := range d.Spec.Template.Spec.Containers {
			if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() {
				r.warn(RuleRequests, at.in("spec.install.spec.deployments[%d].spec.template.spec.containers[%d].resources", i, j),
					fmt.Sprintf("container %s has no requests for both cpu and memory", c.Name), "say what it needs to run")
			}
		}
	}
	described := func(field string, list []v1alpha1.CRDDescription) {
		for i, d := range list {
			if d.Description == "" {
				r.warn(RuleDescription, at.in("spec.customresourcedefinitions.%s[%d]", field, i), fmt.Sprintf("%s has no description", d.Name), "say what it is for")
			}
		}
	}
	described("owned", r.csv.Spec.CustomResourceDefinitions.Owned)
	described("required", r.csv.Spec.CustomResourceDefinitions.Required)
	checkChannels(r)
	// Find operators that may change the CRDs of others.
	strategy := r.csv.Spec.InstallStrategy.StrategySpec
	named := func(list []string, name string) bool {
		return slices.Contains(list, name) || slices.Contains(list, "*")
	}
	check := func(field string, permissions []v1alpha1.StrategyDeploymentPermissions) {
		for i, p := range permissions {
			for j, rule := range p.Rules {
				if named(rule.APIGroups, "apiextensions.k8s.io") && named(rule.Resources, "customresourcedefinitions") && allows(rule, "create", "patch", "update") {
					r.warn(RuleRBACCRD, at.in("spec.install.spec.%s[%d].rules[%d]", field, i, j),
						fmt.Sprintf("account %s may create or change CRDs, which belong to the bundle", p.ServiceAccountName), "let the bundle bring them, and remove the verbs")
				}
			}
		}
	}
	check("permissions", strategy.Permissions)
	check("clusterPermissions", strategy.ClusterPermissions)
	checkNameVersion(r, at)
}

// channelNames are what names of channels begin with by convention.
var channelNames = []string{"candidate", "fast", "stable"}

func checkChannels(r recorder) {
	var odd []string
	for _, channel := range append(slices.Clone(r.Bundle.Channels), r.Bundle.Annotations[bundle.AnnotationDefaultChannel]) {
		conventional := slices.ContainsFunc(channelNames, func(name string) bool { return strings.HasPrefix(channel, name) })
		if channel != "" && !conventional && !slices.Contains(odd, channel) {
			odd = append(odd, channel)
		}
	}
	if len(odd) > 0 {
		r.warn(RuleChannelName, place{file: r.metadataFile("annotations"), field: "annotations"},
			fmt.Sprintf("channels do not follow the convention of names: %s", strings.Join(odd, ", ")), "begin names with "+strings.Join(channelNames, ", "))
	}
}

// versionAtEnd finds where a version may begin in a name.
var versionAtEnd = regexp.MustCompile(`v?[0-9]+\.[0-9]+\.[0-9]+`)

func checkNameVersion(r recorder, at place) {
	name, at := r.csv.Name, at.in("metadata.name")
	prefix, text, found := strings.Cut(name, ".v")
	_, err := version.Parse(text)
	switch {
	case found && err == nil && prefix != "":
		return
	case !slices.ContainsFunc(versionAtEnd.FindAllStringIndex(name, -1), func(place []int) bool {
		_, err := version.Parse(strings.TrimPrefix(name[place[0]:], "v"))
		return err == nil
	}):
		r.warn(RuleNameVersion, at, fmt.Sprintf("%s does not end in a version", name), "name it <operator>.v<version>")
	default:
		r.warn(RuleNameVersion, at, fmt.Sprintf("%s is not made of the operator's name, .v and a version", name), "name it <operator>.v<version>")
	}
}
