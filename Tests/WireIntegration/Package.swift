// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "WireIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Firestore"),
  ],
  targets: [
    .testTarget(
      name: "WireIntegrationTests",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFirestoreWire", package: "Firestore"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      resources: [.copy("firestore-oracle.py")],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
