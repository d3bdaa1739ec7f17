package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
)

// foreign says whether the bundle is not a registry+v1 bundle and does not mean to be one: its manifests are not judged.
func (s *subject) foreign() bool {
	mediaType := s.Bundle.Annotations[bundle.AnnotationMediaType]
	return s.csv == nil && (mediaType == bundle.MediaTypeHelm || mediaType == bundle.MediaTypePlain)
}

// checkFormat checks the files of a bundle and its metadata.
func checkFormat(r recorder) {
	for _, p := range r.Problems {
		checkProblem(r, p)
	}
	for _, p := range r.Notices {
		switch {
		case slices.Contains(r.Ignored, p.File): // reported below
		case errors.Is(p.Err, bundle.ErrNotObject) && !r.foreign():
			r.problem(RuleNotObject, p, "give it both, or move the file out of the directory of the manifests")
		case errors.Is(p.Err, bundle.ErrWrappedEntry):
			message, fix, _ := strings.Cut(p.Err.Error(), "; ")
			key, _, _ := strings.Cut(message, ":")
			r.warn(RuleWrapped, place{file: p.File, field: key}, message, fix)
		case !r.foreign():
			message, fix, own := strings.Cut(p.Err.Error(), "; ")
			if !own {
				fix = "correct it"
			}
			r.warn(RuleNotice, place{file: p.File}, message, fix)
		}
	}
	for _, name := range r.Ignored {
		if !r.foreign() {
			r.err(RuleIgnored, place{file: name}, "directories, links and hidden files in the directory of the manifests are not part of the bundle",
				"move or remove it")
		}
	}
	if r.Bundle.Annotations != nil {
		checkAnnotations(r)
	}
	properties := r.Bundle.Properties
	if r.csv != nil {
		if all, err := r.Bundle.AllProperties(); err == nil { // else a dependency cannot be read, which is an error of its own
			properties = all
		}
	}
	owner := constraint.OwnerOf(r.Bundle.Package, properties)
	for i, d := range r.Bundle.Dependencies {
		need := catalog.Property(d)
		if d.Type == catalog.PropertyPackage {
			need.Type = catalog.PropertyPackageRequired
		}
		if d.Type != "" { // else it is one of the problems
			at := place{file: r.metadataFile("dependencies"), field: fmt.Sprintf("dependencies[%d]", i)}
			checkNeed(r, owner, RuleDependency, at, d.Type, need, dependencyFaults(d), "correct the dependency")
		}
	}
	for i, p := range r.Bundle.Properties {
		if p.Type != "" {
			at := place{file: r.metadataFile("properties"), field: fmt.Sprintf("properties[%d]", i)}
			checkNeed(r, owner, RuleProperty, at, p.Type, p, propertyFaults(p), "correct the property")
		}
	}
}

// ruleOf are the rules that a problem can be about.
var ruleOf = []struct {
	about error
	rule  bundle.Rule
	fix   string
}{
	{bundle.ErrNoMetadata, RuleMetadataDir, "add the directory metadata with annotations.yaml"},
	{bundle.ErrNoManifests, RuleManifestsDir, "add the directory manifests, or correct the annotation that names it"},
	{bundle.ErrNoAnnotations, RuleAnnotations, "add metadata/annotations.yaml; `fairlead bundle generate` writes it"},
	{bundle.ErrNoCSV, RuleNoCSV, "add the manifest of the ClusterServiceVersion"},
	{bundle.ErrSecondCSV, RuleSecondCSV, "keep one of them"},
	{bundle.ErrCSVForm, RuleCSVForm, "correct the field"},
	{bundle.ErrUnsupportedKind, RuleKind, "remove the manifest, or let the operator create the object"},
}

func checkProblem(r recorder, p bundle.Problem) {
	if errors.Is(p.Err, bundle.ErrMediaType) {
		at := place{file: p.File, field: "annotations[" + bundle.AnnotationMediaType + "]"}
		named := r.Bundle.Annotations[bundle.AnnotationMediaType]
		detected, found := bundle.DetectMediaType(r.Manifests)
		switch {
		case found && detected != named:
			r.err(RuleAnnotationValue, at, fmt.Sprintf("expecting the value %q instead of %q", detected, named), "correct the annotation")
		case r.foreign():
			r.warn(RuleMediaType, at, fmt.Sprintf("the manifests of %s bundles are not checked, and cannot be installed from here", named), "make a "+bundle.MediaType+" bundle of it, or install it by other means")
		default:
			r.err(RuleMediaType, at, fmt.Sprintf("media type %q is not supported", named), fmt.Sprintf("use %q", bundle.MediaType))
		}
		return
	}
	aboutManifests := p.File != "" && !slices.ContainsFunc(r.Metadata, func(f bundle.File) bool { return f.Name == p.File })
	if r.foreign() && (aboutManifests || errors.Is(p.Err, bundle.ErrNoCSV)) {
		return
	}
	for _, known := range ruleOf {
		if errors.Is(p.Err, known.about) {
			r.problem(known.rule, p, known.fix)
			return
		}
	}
	r.problem(RuleUnreadable, p, "correct the file")
}

var lineInText = regexp.MustCompile(`line ([0-9]+)`)

// problem reports what reading found. The line is in the error, or in the message of the YAML parser.
func (r recorder) problem(rule bundle.Rule, p bundle.Problem, fix string) {
	message, own, _ := strings.Cut(p.Err.Error(), "; ")
	if own != "" {
		fix = own
	}
	before := len(*r.findings)
	r.err(rule, place{file: p.File}, message, fix)
	if len(*r.findings) == before {
		return
	}
	finding := &(*r.findings)[before]
	var at *bundle.LineError
	var form *json.UnmarshalTypeError
	switch match := lineInText.FindStringSubmatch(message); {
	case errors.As(p.Err, &at):
		finding.Line = at.Line
	case errors.As(p.Err, &form):
		finding.Field, finding.Line = form.Field, r.linesOf(p.File).Of(form.Field)
	case match != nil:
		finding.Line, _ = strconv.Atoi(match[1])
	}
}

// checkAnnotations checks the annotations that every bundle has.
func checkAnnotations(r recorder) {
	annotations, at := r.Bundle.Annotations, place{file: r.metadataFile("annotations")}
	for _, key := range []string{
		bundle.AnnotationMediaType, bundle.AnnotationManifests, bundle.AnnotationMetadata, bundle.AnnotationPackage, bundle.AnnotationChannels,
	} {
		if value, ok := annotations[key]; !ok {
			r.err(RuleAnnotation, at.in("annotations"), fmt.Sprintf("the annotation %s is missing", key), "add it")
		} else if strings.Trim(value, " ,") == "" {
			r.err(RuleAnnotationValue, at.in("annotations[%s]", key), "the value is empty", "give it one")
		}
	}
	checkDirectory(r, at, bundle.AnnotationMetadata, "metadata")
	checkDirectory(r, at, bundle.AnnotationManifests, r.ManifestsDir)
	channel, ok := annotations[bundle.AnnotationDefaultChannel]
	switch at := at.in("annotations[%s]", bundle.AnnotationDefaultChannel); {
	case !ok:
	case strings.TrimSpace(channel) == "":
		r.err(RuleAnnotationValue, at, "the value is empty", "name a channel, or remove the annotation")
	case !slices.Contains(r.Bundle.Channels, strings.TrimSpace(channel)):
		r.warn(RuleDefaultChannel, at, fmt.Sprintf("the bundle is not in the channel %q", channel),
			"make sure that the package has the channel")
	}
}

// checkDirectory checks that an annotation names the directory that was read.
func checkDirectory(r recorder, at place, key, dir string) {
	value := strings.TrimSpace(r.Bundle.Annotations[key])
	if value != "" && path.Clean(strings.Trim(value, "/")) != dir {
		r.err(RuleAnnotationValue, at.in("annotations[%s]", key), fmt.Sprintf("expecting the value %q instead of %q", dir+"/", value), "correct the annotation")
	}
}
