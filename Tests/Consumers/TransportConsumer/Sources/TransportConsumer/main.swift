// A real task over sockets; it ends with status 0 only when everything held.
try await Task.detached { try await useGuestbook() }.value
print("a guest book was served")
