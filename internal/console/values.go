package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"fairlead.dev/fairlead/internal/messages"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxFieldValue is how much of the value of a field is shown.
const maxFieldValue = 400

// shownValue is the value of a field on one line, as JSON where it is more than a text.
func shownValue(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case string:
		return messages.Line(value, maxFieldValue)
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // the template does
	if err := encoder.Encode(value); err != nil {
		return "a value that cannot be shown: " + err.Error()
	}
	return messages.Line(strings.TrimSpace(text.String()), maxFieldValue)
}

// class is that of what is good or bad; neither has none.
func class(good *bool) string {
	switch {
	case good == nil:
		return ""
	case *good:
		return "good"
	}
	return "bad"
}

// Bounds of texts that objects have, each of which may have 32 KiB.
const (
	maxLines = 12
	maxLine  = 700
)

// few are the first lines of a text.
func few(text string) []string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	more := max(0, len(all)-maxLines)
	out := make([]string, 0, maxLines+1)
	for _, line := range all[:len(all)-more] {
		if line = messages.Line(line, maxLine); line != "" {
			out = append(out, line)
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more lines", more))
	}
	return out
}

// advised is an error with what to do about it, unless it is for lack of a right.
func advised(err error, whatToDo string) error {
	if err == nil || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return err
	}
	return &statusError{http.StatusBadGateway, withoutCommands(err), whatToDo}
}

// unfit is an error that internal/ops has with what the user asks for, with what to do about it. One that the cluster has is left as it is.
func unfit(err error, whatToDo string) error {
	if err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown || errors.As(err, new(*url.Error)) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	status := http.StatusBadRequest
	if asked := messages.Asked(err); asked != nil {
		status = explainAsked(asked).status
	}
	return &statusError{status, withoutCommands(err), whatToDo}
}
