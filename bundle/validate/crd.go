package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"
)

const crdKind = "CustomResourceDefinition"

// crdVersions are the versions of the kind that are understood. The older one is no longer served, which is another rule.
const (
	crdV1      = "apiextensions.k8s.io/v1"
	crdV1Beta1 = "apiextensions.k8s.io/v1beta1"
)

// approvalAnnotation says who approved a CRD in a group that Kubernetes keeps for itself.
const approvalAnnotation = "api-approved.kubernetes.io"

// checkCRDs checks what the API server refuses in CustomResourceDefinitions, except in schemas and status.
func checkCRDs(r recorder) {
	for _, object := range r.Bundle.Objects {
		if object.GetKind() == crdKind {
			checkCRD(r, r.objectPlace(object), object)
		}
	}
}

func checkCRD(r recorder, at place, object *unstructured.Unstructured) {
	if version := object.GetAPIVersion(); version != crdV1 && version != crdV1Beta1 {
		r.err(RuleCRDAPIVersion, at.in("apiVersion"), fmt.Sprintf("unsupported api version of CRD: %s", version), "use "+crdV1)
		return
	}
	crd, err := decodeCRD(object)
	if err != nil {
		var form *json.UnmarshalTypeError
		if errors.As(err, &form) {
			at.field = form.Field
		}
		r.err(RuleCRDForm, at, fmt.Sprintf("it does not have the form of its kind: %v", err), "correct the field")
		return
	}
	checkGroup(r, at, object.GetAPIVersion(), crd)
	if scope := crd.Spec.Scope; scope != apiextensionsv1.ClusterScoped && scope != apiextensionsv1.NamespaceScoped &&
		(scope != "" || object.GetAPIVersion() == crdV1) {
		r.err(RuleCRDScope, at.in("spec.scope"), fmt.Sprintf("%q is not a scope", scope), "use Cluster or Namespaced")
	}
	checkNames(r, at, crd.Spec.Names)
	checkVersions(r, at, crd.Spec.Versions)
	checkConversion(r, at, crd)
	if crd.Spec.PreserveUnknownFields && object.GetAPIVersion() == crdV1 {
		r.err(RuleCRDPreserve, at.in("spec.preserveUnknownFields"), "cannot be true in "+crdV1,
			"set x-kubernetes-preserve-unknown-fields in the schema where it is needed")
	}
}

// decodeCRD reads a CRD of either version as one of the newer.
func decodeCRD(object *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	content := object.Object
	if object.GetAPIVersion() == crdV1Beta1 {
		content = raise(object.DeepCopy().Object)
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	return crd, kjson.UnmarshalCaseSensitivePreserveInts(text, crd)
}

// raise moves the fields of an old CRD to where the newer version has them.
func raise(content map[string]any) map[string]any {
	spec, ok := content["spec"].(map[string]any)
	if !ok {
		return content
	}
	raiseColumns(spec)
	versions, _ := spec["versions"].([]any)
	if name, ok := spec["version"].(string); ok && len(versions) == 0 {
		versions = []any{map[string]any{"name": name, "served": true, "storage": true}}
	}
	for _, item := range versions {
		entry, ok := item.(map[string]any)
		if !ok {
			continue
		}
		raiseColumns(entry)
		for _, key := range []string{"subresources", "additionalPrinterColumns"} {
			if value, ok := spec[key]; ok && entry[key] == nil {
				entry[key] = value
			}
		}
	}
	spec["versions"] = versions
	if conversion, ok := spec["conversion"].(map[string]any); ok && conversion["webhookClientConfig"] != nil {
		reviews := conversion["conversionReviewVersions"]
		if reviews == nil {
			reviews = []any{"v1beta1"}
		}
		conversion["webhook"] = map[string]any{"clientConfig": conversion["webhookClientConfig"], "conversionReviewVersions": reviews}
	}
	return content
}

// raiseColumns renames the path of printer columns.
func raiseColumns(owner map[string]any) {
	columns, _ := owner["additionalPrinterColumns"].([]any)
	for _, item := range columns {
		if column, ok := item.(map[string]any); ok && column["JSONPath"] != nil {
			column["jsonPath"] = column["JSONPath"]
			delete(column, "JSONPath")
		}
	}
}

func checkGroup(r recorder, at place, apiVersion string, crd *apiextensionsv1.CustomResourceDefinition) {
	group, field := crd.Spec.Group, at.in("spec.group")
	switch {
	case group == "":
		r.err(RuleCRDGroup, field, "the group is missing", "name the API group")
		return
	case len(strings.Split(group, ".")) < 2:
		r.err(RuleCRDGroup, field, "should be a domain with at least one dot", "use a domain of your own")
	}
	for _, message := range validation.IsDNS1123Subdomain(group) {
		r.err(RuleCRDGroup, field, message, "correct the group")
	}
	reserved := slices.ContainsFunc([]string{".k8s.io", ".kubernetes.io"}, func(suffix string) bool { return strings.HasSuffix("."+group, suffix) })
	if apiVersion != crdV1 || !reserved { // the older version did not ask for approval
		return
	}
	approval := crd.Annotations[approvalAnnotation]
	if !strings.HasPrefix(approval, "unapproved") && !strings.HasPrefix(approval, "http://") && !strings.HasPrefix(approval, "https://") {
		r.err(RuleCRDApproval, at.in("metadata.annotations[%s]", approvalAnnotation), "the group belongs to Kubernetes, which asks who approved the API",
			"use a group of your own, or set the annotation to the address of the approval, or to unapproved")
	}
}

func checkNames(r recorder, at place, names apiextensionsv1.CustomResourceDefinitionNames) {
	label := func(field, value string, required bool) {
		if value == "" && !required {
			return
		}
		if value == "" {
			r.err(RuleCRDNames, at.in("spec.names.%s", field), "is missing", "add it")
			return
		}
		for _, message := range validation.IsDNS1035Label(value) {
			r.err(RuleCRDNames, at.in("spec.names.%s", field), message, "correct the name")
		}
	}
	label("plural", names.Plural, true)
	label("singular", names.Singular, false)
	label("kind", strings.ToLower(names.Kind), true)
	label("listKind", strings.ToLower(names.ListKind), false)
	if names.Kind != "" && names.Kind == names.ListKind {
		r.err(RuleCRDNames, at.in("spec.names.listKind"), "kind and listKind may not be the same", "name the list "+names.Kind+"List")
	}
	for i, name := range names.ShortNames {
		label(fmt.Sprintf("shortNames[%d]", i), name, true)
	}
	for i, name := range names.Categories {
		label(fmt.Sprintf("categories[%d]", i), name, true)
	}
}
