package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Has reports whether the form has a field.
func (p *installPage) Has(name string) bool {
	fields := []string{"catalog", namespaceKey, "channel", "version"}
	switch {
	case p.Order.API == apiV1:
		fields = append(fields, "name", "account", configKey)
	case p.Group == "":
		fields = append(fields, "mode", "watch")
	}
	return slices.Contains(fields, name) || p.Order.API == apiV1 && slices.ContainsFunc(p.Fields, func(f field) bool { return f.Parameter() == name })
}

// fieldError is what is wrong with a field, as it is said beside it.
type fieldError struct{ ID, Text string }

// Errors are what is wrong with a field.
func (p *installPage) Errors(name string) (all []fieldError) {
	for i, wrong := range p.Wrong {
		if wrong.Field == name {
			all = append(all, fieldError{fmt.Sprintf("wrong-%d", i), wrong.Text})
		}
	}
	return all
}

// DescribedBy are the IDs of what is wrong with a field, separated by spaces; empty where nothing is.
func (p *installPage) DescribedBy(name string) string {
	var ids []string
	for _, e := range p.Errors(name) {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

// writtenFields are the fields of a configuration as a form has sent them, to be corrected: a value that cannot be is no part of an order.
func writtenFields(values url.Values) (fields []field) {
	for name := range values {
		of, is := strings.CutPrefix(name, configField)
		kind, of, _ := strings.Cut(of, ".")
		if value := strings.TrimSpace(values.Get(name)); is && of != "" && value != "" && canBeNamed(name) {
			fields = append(fields, field{Name: of, Type: kind, Value: value})
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.Parameter(), b.Parameter()) })
	return fields[:min(len(fields), maxConfigFields)]
}
