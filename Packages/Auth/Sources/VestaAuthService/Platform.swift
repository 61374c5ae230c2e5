// What depends on the platform in this module stands here.
