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
  name: "EventsInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaEventsInterop", targets: ["VestaEventsInterop"]),
    .library(name: "VestaEventsInteropContracts", targets: ["VestaEventsInteropContracts"]),
    .library(name: "VestaEventsInteropFakes", targets: ["VestaEventsInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../StoreInterop"),
  ],
  targets: [
    .target(
      name: "VestaEventsInterop",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaEventsInteropContracts",
      dependencies: [
        "VestaEventsInterop",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaEventsInteropFakes",
      dependencies: [
        "VestaEventsInterop",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaEventsInteropTests",
      dependencies: [
        "VestaEventsInterop", "VestaEventsInteropContracts", "VestaEventsInteropFakes",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
