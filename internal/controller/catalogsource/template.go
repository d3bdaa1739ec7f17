package catalogsource

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// The documented conditions of a catalog whose image is a template, and their reasons.
const (
	conditionTemplates     = "TemplatesHaveResolved"
	conditionResolvedImage = "ResolvedImage"
	reasonAllResolved      = "AllTemplatesResolved"
	reasonUnable           = "UnableToResolve"

	// unresolved stands for what a variable would be, in the image that is reported.
	unresolved = "missing"
	// templateLife is how often the image of a template is reconciled again: the version of the cluster may have changed.
	templateLife = reconcile.VersionLifetime
)

var variable = regexp.MustCompile(`\{[^{}]*\}`)

// template is an image with variables, and what becomes of it. Its zero value is that of a catalog without one.
type template struct {
	text  string
	image string
	wrong string // why the image cannot be used
}

// resolveTemplate replaces the variables of the image template of a catalog. The version is nil when it is not known.
func resolveTemplate(source *v1alpha1.CatalogSource, cluster *version.Version) template {
	t := template{text: source.Annotations[v1alpha1.CatalogImageTemplateAnnotation]}
	if source.Spec.SourceType != v1alpha1.SourceTypeGrpc || t.text == "" {
		return template{}
	}
	values := map[string]string{}
	if cluster != nil {
		values["{kube_major_version}"] = fmt.Sprint(cluster.Major())
		values["{kube_minor_version}"] = fmt.Sprint(cluster.Minor())
		values["{kube_patch_version}"] = fmt.Sprint(cluster.Patch())
	}
	var left []string
	t.image = variable.ReplaceAllStringFunc(t.text, func(name string) string {
		if value, ok := values[name]; ok {
			return value
		}
		left = append(left, name)
		return unresolved
	})
	if len(left) > 0 {
		slices.Sort(left)
		t.wrong = fmt.Sprintf("the annotation %s comes to %s, as there is no value for %s; the variables are {kube_major_version}, {kube_minor_version} and {kube_patch_version}",
			v1alpha1.CatalogImageTemplateAnnotation, t.image, strings.Join(slices.Compact(left), ", "))
		if cluster == nil {
			t.wrong += ", and the version of the cluster is not known"
		}
	} else if err := image.CheckReference(t.image); err != nil {
		t.wrong = fmt.Sprintf("the annotation %s comes to what is no image: %s", v1alpha1.CatalogImageTemplateAnnotation, err)
	}
	return t
}

// report sets the conditions of a template, or removes them when there is none.
func (t template) report(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if t.text == "" {
		meta.RemoveStatusCondition(conditions, conditionTemplates)
		meta.RemoveStatusCondition(conditions, conditionResolvedImage)
		return
	}
	resolved := metav1.Condition{Type: conditionTemplates, Status: metav1.ConditionTrue, Reason: reasonAllResolved, Message: "every variable of the image has a value"}
	used := metav1.Condition{Type: conditionResolvedImage, Status: metav1.ConditionTrue, Reason: reasonAllResolved, Message: t.image}
	if t.wrong != "" {
		resolved.Status, resolved.Reason, resolved.Message = metav1.ConditionFalse, reasonUnable, t.wrong
		used.Status, used.Reason = metav1.ConditionFalse, reasonUnable
	}
	for _, c := range []metav1.Condition{resolved, used} {
		c.ObservedGeneration, c.LastTransitionTime = generation, *stamp(now)
		meta.SetStatusCondition(conditions, c)
	}
}

// clusterVersion remembers the version of the cluster, which image templates may ask for; nil when it is not known.
func clusterVersion(server discovery.ServerVersionInterface, clock clock.PassiveClock) *reconcile.ClusterVersion[*version.Version] {
	return &reconcile.ClusterVersion[*version.Version]{Server: server, Clock: clock, Parse: version.ParseSemantic,
		Without: "images of catalogs that depend on it stay as they are"}
}
