package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/crds"
	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxSkew is by how much clocks may differ before that is a finding: certificates, leases and tokens bear some seconds.
const maxSkew = 10 * time.Second

// definitions compares the CustomResourceDefinitions of both APIs with those of this program. Newer ones have more, which is no fault.
func (e *examiner) definitions(ctx context.Context, c *Check) {
	if e.foreign {
		c.Summary = "not compared: they are those of the other lifecycle manager"
		return
	}
	shipped, err := crds.All()
	if !c.read("definitions of this program", err) {
		return
	}
	namespace, name := e.own()
	remedy := fmt.Sprintf(restartManager, namespace, name)
	examined := 0
	for _, want := range shipped {
		if want.Spec.Group == olmv1.GroupName && !e.works("v1") {
			continue
		}
		var have apiextensionsv1.CustomResourceDefinition
		object := "CustomResourceDefinition " + want.Name
		err := e.Client.Get(ctx, client.ObjectKey{Name: want.Name}, &have)
		switch {
		case apierrors.IsNotFound(err):
			c.fail(object, remedy, "it does not exist: objects of kind %s cannot be written", want.Spec.Names.Kind)
		case apierrors.IsForbidden(err):
			c.forbid("CustomResourceDefinitions")
			return
		case !c.read(object, err):
			return // what is wrong with one read is wrong with all
		default:
			examined++
			for _, problem := range older(want, &have) {
				c.fail(object, remedy, "%s", problem)
			}
		}
	}
	c.Summary = safetext.Count(examined, "definition") + ", none older than those of this program"
}

// older are the differences of a definition that is older than it should be.
func older(want, have *apiextensionsv1.CustomResourceDefinition) []string {
	var problems []string
	for i := range want.Spec.Versions {
		version := &want.Spec.Versions[i]
		if !version.Served {
			continue
		}
		at := slices.IndexFunc(have.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version.Name })
		if at < 0 || !have.Spec.Versions[at].Served {
			problems = append(problems, "it is older than that of this program: version "+version.Name+" is not served")
			continue
		}
		if version.Schema == nil || have.Spec.Versions[at].Schema == nil {
			continue
		}
		var lacks []string
		lacking("", version.Schema.OpenAPIV3Schema, have.Spec.Versions[at].Schema.OpenAPIV3Schema, &lacks)
		if slices.Sort(lacks); len(lacks) > 0 {
			more := ""
			if len(lacks) > maxLacking {
				more = fmt.Sprintf(" and %d more", len(lacks)-maxLacking)
			}
			problems = append(problems, fmt.Sprintf("it is older than that of this program: version %s has no %s%s, which the API server drops from objects", version.Name, strings.Join(lacks[:min(len(lacks), maxLacking)], ", "), more))
		}
	}
	for _, condition := range have.Status.Conditions {
		wrong := condition.Type == apiextensionsv1.Established || condition.Type == apiextensionsv1.NamesAccepted
		if wrong && condition.Status == apiextensionsv1.ConditionFalse {
			problems = append(problems, fmt.Sprintf("it is not in use: %s is False: %s", condition.Type, condition.Message))
		}
	}
	return problems
}

// maxLacking is how many fields are named.
const maxLacking = 5

// lacking adds the fields that one schema has and another has not; below a field that is lacking none is added.
func lacking(path string, want, have *apiextensionsv1.JSONSchemaProps, out *[]string) {
	if want == nil || have != nil && have.XPreserveUnknownFields != nil && *have.XPreserveUnknownFields {
		return
	}
	if have == nil {
		*out = append(*out, strings.TrimPrefix(path, "."))
		return
	}
	for name := range want.Properties {
		property := want.Properties[name]
		if there, ok := have.Properties[name]; ok {
			lacking(path+"."+name, &property, &there, out)
		} else {
			lacking(path+"."+name, &property, nil, out)
		}
	}
	if want.Items != nil && have.Items != nil {
		lacking(path+"[]", want.Items.Schema, have.Items.Schema, out)
	}
	if want.AdditionalProperties != nil && have.AdditionalProperties != nil {
		lacking(path+".*", want.AdditionalProperties.Schema, have.AdditionalProperties.Schema, out)
	}
}

// policies examines the admission policies that the v1 API relies on.
func (e *examiner) policies(ctx context.Context, c *Check) {
	if e.foreign {
		c.Summary = "none is needed without Fairlead's manager"
		return
	}
	if !e.works("v1") || !(servedAPIs{e}).servedKind(ctx, "clusterextensions.olm.operatorframework.io") {
		c.Summary = "none is needed without the v1 API"
		return
	}
	checker := permissions.PolicyChecker{Reader: e.Client}
	if len(e.managers) > 0 {
		namespace, name := accountOf(&e.managers[0])
		checker.Manager = permissions.ServiceAccount(namespace, name).User
	}
	found, err := checker.Check(ctx)
	if !c.read("ValidatingAdmissionPolicies", err) {
		return
	}
	for _, f := range found {
		c.fail("ValidatingAdmissionPolicy "+f.Policy, "kubectl apply --server-side -f config/policies.yaml, or helm upgrade; docs/runbooks/AdmissionPolicyMissing.md",
			"it %s; until it is in force the manager blocks what relies on it, or users may act with rights that are not theirs", f.Problem)
	}
	c.Summary = "those of the v1 API are in force"
}

// catalogs examines whether catalogs could be read. It is judged by what the manager has met: this machine may reach other registries than it.
func (e *examiner) catalogs(ctx context.Context, c *Check) {
	listing, err := ListCatalogs(ctx, e.Client, "")
	if !c.read("catalogs", err) {
		return
	}
	if len(listing.Notes) > 0 && e.Own != "" { // perhaps those of one namespace may be read
		if own, err := ListCatalogs(ctx, e.Client, e.Own); err == nil {
			listing = own
		}
	}
	for _, note := range listing.Notes {
		c.note("%s", note)
	}
	c.Summary = safetext.Count(len(listing.Catalogs), "catalog")
	if e.foreign {
		c.Summary += "; how they are is not judged: the other lifecycle manager reports it in conditions of its own"
		return
	}
	for _, one := range listing.Catalogs {
		source := one.Source
		if source == "" {
			source = "nothing"
		}
		remedy := fmt.Sprintf("see that %s answers from within the cluster, and that the pull secret and the name are right; fairlead catalog list shows when it was read", source)
		switch {
		case one.Message == unreconciled:
			c.note("%s was not read yet", one.Describe())
		case !one.asAsked() && one.problem:
			c.fail(one.Describe(), remedy, "its content cannot be read from %s: %s", source, one.Message)
		case !one.asAsked():
			c.note("%s is being read from %s: %s", one.Describe(), source, one.Message)
		case one.Message != "" && one.Serving:
			c.fail(one.Describe(), remedy, "what is newer cannot be read from %s, and older content is served: %s", source, one.Message)
		}
	}
	switch {
	case len(listing.Catalogs) == 0 && len(listing.Notes) > 0:
		c.Summary = "" // there may be some
	case len(listing.Catalogs) == 0:
		c.Summary = "there is none; fairlead catalog add NAME IMAGE creates one"
	}
}

// clocks compares those of this machine, the leader and the nodes with that of the API server.
func (e *examiner) clocks(ctx context.Context, c *Check) {
	const remedy = "have the clock set by NTP (timedatectl set-ntp true): certificates, tokens and leases are judged wrongly"
	if !e.clocked {
		c.note("the API server does not say what time it has")
	} else if e.ahead.Abs() > maxSkew {
		c.fail("this machine", remedy, "its clock is %s that of the API server", differs(-e.ahead))
	}
	for _, l := range e.leaders {
		if l.alive() && l.ahead.Abs() > maxSkew {
			c.fail(l.describe(), "on the node of the pod "+l.name()+": "+remedy, "the clock of %s, which leads, is %s that of the API server", l.name(), differs(l.ahead))
		}
	}
	var nodes coordinationv1.LeaseList
	if c.read("Leases of nodes (namespace kube-node-lease)", e.Client.List(ctx, &nodes, client.InNamespace("kube-node-lease"))) {
		for _, lease := range nodes.Items {
			if l := (leaseExam{e}).leaderOf(lease); l.alive() && l.ahead.Abs() > maxSkew {
				c.fail("Node "+lease.Name, remedy, "its clock is %s that of the API server", differs(l.ahead))
			}
		}
	}
	c.Summary = fmt.Sprintf("within %s of that of the API server", maxSkew)
}

// differs is a difference of clocks in words.
func differs(ahead time.Duration) string {
	if ahead < 0 {
		return (-ahead).Round(time.Second).String() + " behind"
	}
	return ahead.Round(time.Second).String() + " ahead of"
}
