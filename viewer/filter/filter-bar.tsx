export function FilterBar() {
  return <div class="filter-bar" />
}
