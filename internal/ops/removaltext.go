package ops

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Write prints what goes and what stays, for people.
func (r *Removal) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", messages.Clean(r.Operator.String()))
	if r.Version != "" {
		fmt.Fprintf(&b, ", version %s", messages.Clean(r.Version))
	}
	b.WriteString("\n\nGoes:\n")
	rows := [][]string{{"KIND", "NAMESPACE", "NAME"}}
	for _, ref := range r.Goes {
		rows = append(rows, []string{ref.Kind, ref.Namespace, ref.Name})
	}
	b.WriteString(messages.Indent(messages.Table(rows...), 2))
	if len(r.CRDs) > 0 {
		b.WriteString("\nCustomResourceDefinitions:\n")
		rows := [][]string{{"NAME", "CUSTOM RESOURCES", "FINALIZERS", "WHAT HAPPENS"}}
		for _, c := range r.CRDs {
			fate := "stays: "
			switch {
			case c.Unseen:
				fate = "is not deleted: "
			case c.Goes && (c.operands || c.Instances != 0):
				fate = "goes with its custom resources: "
			case c.Goes:
				fate = "goes: "
			case c.Converted:
				fate = "stays, and is converted no more: "
			}
			why := c.Why
			if c.Advice != "" {
				why += "; " + c.Advice
			}
			rows = append(rows, []string{c.Name, c.instances(), strings.Join(c.Finalizers, ","), fate + why})
		}
		b.WriteString(messages.Indent(messages.Table(rows...), 2))
	}
	if len(r.Along) > 0 {
		b.WriteString("\nThe manager removes these, too, as nothing else needs them:\n")
		rows := [][]string{{"KIND", "NAME", "CUSTOM RESOURCES", "INSTALLED FOR"}}
		for _, d := range r.Along {
			rows = append(rows, []string{d.Kind, d.Name, "", d.RequiredBy})
			for _, c := range d.CRDs {
				rows = append(rows, []string{"CustomResourceDefinition", c.Name, c.instances(), d.RequiredBy})
			}
		}
		b.WriteString(messages.Indent(messages.Table(rows...), 2))
	}
	if len(r.Stays) > 0 {
		b.WriteString("\nStays:\n")
		rows := [][]string{{"KIND", "NAMESPACE", "NAME", "WHY"}}
		for _, k := range r.Stays {
			rows = append(rows, []string{k.Kind, k.Namespace, k.Name, k.Why})
		}
		b.WriteString(messages.Indent(messages.Table(rows...), 2))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s\n", messages.Clean(warning))
	}
	if len(r.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", messages.Clean(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *CRD) instances() string {
	if c.Instances < 0 {
		return "unknown"
	}
	if c.AtLeast {
		return "at least " + strconv.FormatInt(c.Instances, 10)
	}
	return strconv.FormatInt(c.Instances, 10)
}
