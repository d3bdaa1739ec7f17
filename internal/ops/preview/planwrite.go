package preview

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// Write prints the plan as a tree.
func (v PlanView) Write(w io.Writer) error {
	var b strings.Builder
	about := []string{"approval " + v.Approval}
	switch {
	case v.Approved:
		about = append(about, "approved")
	case v.Phase == string(v1alpha1.InstallPlanPhaseRequiresApproval):
		about = append(about, "to approve it set spec.approved to true")
	default:
		about = append(about, "not approved")
	}
	if v.Generation > 0 {
		about = append(about, fmt.Sprintf("generation %d", v.Generation))
	}
	if v.Account != "" {
		about = append(about, "as ServiceAccount "+v.Account)
	}
	line(&b, "", fmt.Sprintf("InstallPlan %s/%s %s (%s)", v.Namespace, v.Name, v.Phase, strings.Join(about, ", ")))
	literalBlock(&b, "    ", v.Message)
	if len(v.Operators) == 0 {
		b.WriteString("└── no steps\n")
	}
	for i, o := range v.Operators {
		branch, below := corner(i == len(v.Operators)-1)
		about := cmp.Or(o.Name, "for no operator")
		if o.Catalog != "" {
			about += " from catalog " + o.Catalog
		}
		if o.Image != "" {
			about += ", image " + o.Image
		}
		if o.Replaces != "" {
			about += ", replaces " + o.Replaces
		}
		line(&b, branch, about)
		if o.Verified == corev1.ConditionTrue { // otherwise why not is part of what follows
			literalBlock(&b, below+"    ", o.Signature)
		}
		literalBlock(&b, below+"    ", o.Bundle)
		for j, s := range o.Steps {
			indent := below
			branch, below := corner(j == len(o.Steps)-1)
			optional := ""
			if s.Optional {
				optional = ", optional"
			}
			// What is done is told from what is not, and that from what fails.
			status, mark := v1alpha1.StepStatus(s.Status), "·"
			switch {
			case isDone(status):
				mark = "✓"
			case status == v1alpha1.StepStatusUnsupportedResource, s.Failure != "":
				mark = "✗"
			case s.Caution != "":
				mark = "!"
			}
			line(&b, indent+branch, fmt.Sprintf("%s %s %s %s%s", mark, s.Kind, s.Name, s.Status, optional))
			for _, text := range []string{s.Waits, s.Caution, s.Failure} {
				literalBlock(&b, indent+below+"      ", text)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func corner(last bool) (branch, below string) {
	if last {
		return "└── ", "    "
	}
	return "├── ", "│   "
}

// literalBlock writes text of several lines, if there is any.
func literalBlock(b *strings.Builder, indent, text string) {
	if text == "" {
		return
	}
	for _, each := range strings.Split(text, "\n") {
		line(b, indent, each)
	}
}

// line writes one line. What it says comes from catalogs, registries and files: nothing of it may move the cursor of a terminal, colour
// what follows or turn its direction, so such characters are shown by their number.
func line(b *strings.Builder, indent, text string) {
	b.WriteString(indent)
	for _, r := range text {
		if unicode.IsGraphic(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	b.WriteByte('\n')
}
