package crd

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// nextLimit is how many objects the next page has, if they are as large as those of the last one and the rules for them cost as much.
func nextLimit(last []unstructured.Unstructured, spent, cost int64) int64 {
	objects, size := int64(len(last)), int64(0)
	for i := range last {
		size += int64(weight(last[i].Object))
	}
	limit := int64(largestPage)
	if size > 0 {
		limit = max(leastPage, min(limit, pageBytes*objects/size))
	}
	if spent > 0 {
		limit = max(1, min(limit, cost*objects/spent))
	}
	return limit
}

// weight is about how many bytes a JSON value has.
func weight(value any) int {
	switch v := value.(type) {
	case string:
		return len(v) + 16
	case map[string]any:
		sum := 16
		for name, member := range v {
			sum += len(name) + 16 + weight(member)
		}
		return sum
	case []any:
		sum := 16
		for _, item := range v {
			sum += weight(item)
		}
		return sum
	}
	return 16
}
