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
  name: "FunctionsConsumer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Functions"),
  ],
  targets: [
    .executableTarget(
      name: "FunctionsConsumer",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFunctions", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
