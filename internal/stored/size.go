package stored

// nextLimit is how many objects the next page has, if they are as large as those of the last one.
func nextLimit(objects, size int) int64 {
	if objects == 0 || size == 0 {
		return largestPage
	}
	return max(leastPage, min(largestPage, int64(pageBytes)*int64(objects)/int64(size)))
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
